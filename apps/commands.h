// The commands of the `trueup` binary: what the command line fills in, and who adds which of them
// with its options and its help. For main.cpp and the commands_*.cpp only.
#pragma once

#include "apps/client.h"
#include "apps/config_check.h"
#include "apps/demo.h"
#include "apps/enable_command.h"
#include "apps/operate.h"
#include "apps/plan.h"
#include "apps/policy_command.h"
#include "apps/policy_diff.h"
#include "apps/policy_new.h"
#include "apps/policy_test.h"
#include "apps/process.h"
#include "apps/simulate.h"
#include "apps/source_drop.h"
#include "apps/topics.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {

struct Options {
    DemoOptions demo;
    ProcessOptions process;
    TopicsOptions topics;
    CheckOptions check;
    PlanOptions plan;
    PolicyOptions policy;
    PolicyTestOptions policy_test;
    PolicyDiffOptions policy_diff;
    PolicyNewOptions policy_new;
    OperateOptions operate;
    EnableOptions enable;
    SimulateOptions simulate;
    SourceDropOptions source_drop;
    bool no_colours = false;
    std::string log_level;
    std::string shell;  ///< whose completion script is asked for
};

// commands_run.cpp
/// The processes, each with the part that it runs.
using Processes = std::vector<std::pair<const CLI::App*, Part>>;
CLI::App* add_demo(CLI::App& app, Options& options);
CLI::App* add_simulate(CLI::App& app, Options& options);
Processes add_processes(CLI::App& app, Options& options);

// commands_setup.cpp
using Topics = std::vector<std::pair<const CLI::App*, std::function<int(const TopicsOptions&)>>>;
Topics add_topics(CLI::App& app, Options& options);
CLI::App* add_check(CLI::App& app, Options& options);
CLI::App* add_plan(CLI::App& app, Options& options);
CLI::App* add_source(CLI::App& app, Options& options);
CLI::App* add_completion(CLI::App& app, std::string& shell);

// commands_policy.cpp
/// Its commands, and what each of them runs.
using Policies = std::vector<std::pair<CLI::App*, int (*)(const PolicyOptions&)>>;
Policies add_policy(CLI::App& app, Options& options);
/// Below `policy`.
CLI::App* add_policy_new(CLI::App& app, Options& options);
CLI::App* add_policy_diff(CLI::App& app, Options& options);
CLI::App* add_policy_test(CLI::App& app, Options& options);
/// Below `policy`: what an operator asks of a running engine.
using Enablings = std::vector<std::pair<CLI::App*, int (*)(const EnableOptions&)>>;
Enablings add_enabling(CLI::App& policy, Options& options);

// commands_operate.cpp
/// Which engine.
void add_engine(CLI::App& command, EngineAddress& engine);
/// The same where the configuration is named anyway.
void add_engine_address(CLI::App& command, EngineAddress& engine);
using Operate = std::function<int(const OperateOptions&)>;
/// What was asked for on the command line, once it was read.
using Chosen = std::vector<std::pair<const CLI::App*, Operate>>;
/// What is asked of an engine.
Chosen add_operations(CLI::App& app, Options& options);

}  // namespace trueup::apps
