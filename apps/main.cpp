// The `trueup` binary: parses the command line and calls one file per subcommand.
#include "apps/command_line.h"
#include "apps/commands.h"
#include "apps/completion.h"
#include "apps/logging.h"
#include "apps/stop_signal.h"
#include "engine/base/version.h"

#include <CLI/CLI.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

namespace {

namespace apps = trueup::apps;

/// The commands, in the order of the help.
struct Commands {
    const CLI::App* demo;
    const CLI::App* simulate;
    apps::Processes processes;
    apps::Topics topics;
    const CLI::App* check;
    const CLI::App* plan;
    apps::Policies policy;
    const CLI::App* policy_diff;
    const CLI::App* policy_new;
    const CLI::App* policy_test;
    apps::Enablings enabling;
    const CLI::App* source_drop;
    apps::Chosen operations;
    const CLI::App* completion;
};

Commands add_commands(CLI::App& app, apps::Options& options) {
    Commands all{};
    all.demo = apps::add_demo(app, options);
    all.simulate = apps::add_simulate(app, options);
    all.processes = apps::add_processes(app, options);
    all.topics = apps::add_topics(app, options);
    all.check = apps::add_check(app, options);
    all.plan = apps::add_plan(app, options);
    all.policy = apps::add_policy(app, options);
    all.policy_diff = apps::add_policy_diff(app, options);
    all.policy_new = apps::add_policy_new(app, options);
    all.policy_test = apps::add_policy_test(app, options);
    all.enabling = apps::add_enabling(*app.get_subcommand("policy"), options);
    all.source_drop = apps::add_source(app, options);
    all.operations = apps::add_operations(app, options);
    all.completion = apps::add_completion(app, options.shell);
    return all;
}

/// Runs the command that was written.
int run_command(const Commands& all, apps::Options& options, apps::StopSignal& stop) {
    if (all.demo->parsed()) return apps::run_demo(options.demo, stop);
    for (const auto& [command, part] : all.processes) {
        options.process.part = part;
        if (command->parsed()) return apps::run_process(options.process, stop);
    }
    for (const auto& [command, run_topics] : all.topics) {
        if (command->parsed()) return run_topics(options.topics);
    }
    if (all.simulate->parsed()) return apps::run_simulate(options.simulate, stop);
    if (all.check->parsed()) return apps::run_config_check(options.check, stop);
    if (all.plan->parsed()) return apps::run_plan(options.plan, stop);
    for (const auto& [command, run_policy] : all.policy) {
        if (command->parsed()) return run_policy(options.policy);
    }
    if (all.policy_diff->parsed()) return apps::run_policy_diff(options.policy_diff, stop);
    if (all.policy_new->parsed()) return apps::run_policy_new(options.policy_new, stop);
    if (all.policy_test->parsed()) return apps::run_policy_test(options.policy_test, stop);
    for (const auto& [command, run_enabling] : all.enabling) {
        if (command->parsed()) return run_enabling(options.enable);
    }
    if (all.source_drop->parsed()) return apps::run_source_drop(options.source_drop);
    for (const auto& [command, operate] : all.operations) {
        if (command->parsed()) return operate(options.operate);
    }
    return 2;
}

int run(int argc, char** argv) {
    // What we write, keys and journal among it, is our account's alone.
    ::umask(S_IRWXG | S_IRWXO);
    apps::StopSignal stop;
    CLI::App app{
        "Trueup finds where your records and the real world disagree, and repairs it safely.",
        "trueup"};
    app.set_version_flag("--version", std::string("trueup ") + trueup::kVersion);
    app.require_subcommand(1);
    apps::Options options;
    app.add_option(
           "--log-level", options.log_level,
           "debug, info, warn or error (default: log.level of the configuration, else warn)")
        ->check(CLI::IsMember({"debug", "info", "warn", "error"}).description(""))
        ->type_name("LEVEL");
    const Commands commands = add_commands(app, options);
    // Last, or each command would have it, too.
    app.footer(
        "`trueup COMMAND --help` shows the options of a command, its exit codes and examples.\n"
        "Start with `trueup demo`. TRUEUP_CONFIG is the configuration file if -c is not given.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return apps::answer_refused(app, error);
    }
    if (commands.completion->parsed()) {
        std::fputs(apps::completion_script(app, options.shell).c_str(), stdout);
        return 0;
    }
    apps::use_text_log(options.log_level);
    options.process.log_level = options.log_level;
    const bool colours = !options.no_colours && isatty(STDOUT_FILENO) != 0;
    options.demo.colours = options.process.colours = colours;
    return run_command(commands, options, stop);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        // Exceptions of libraries end in their adapters; this is for the unexpected.
        std::fprintf(stderr, "trueup: %s\n", error.what());
        return 1;
    }
}
