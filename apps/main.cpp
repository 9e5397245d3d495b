// The `trueup` binary: parses the command line and calls one file per subcommand.
#include "apps/command_line.h"
#include "apps/completion.h"
#include "apps/config_check.h"
#include "apps/demo.h"
#include "apps/enable_command.h"
#include "apps/logging.h"
#include "apps/operate.h"
#include "apps/plan.h"
#include "apps/policy_command.h"
#include "apps/policy_test.h"
#include "apps/process.h"
#include "apps/simulate.h"
#include "apps/source_drop.h"
#include "apps/topics.h"
#include "apps/why.h"
#include "engine/base/version.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace {

struct Options {
    trueup::apps::DemoOptions demo;
    trueup::apps::ProcessOptions process;
    trueup::apps::TopicsOptions topics;
    trueup::apps::CheckOptions check;
    trueup::apps::PlanOptions plan;
    trueup::apps::PolicyOptions policy;
    trueup::apps::PolicyTestOptions policy_test;
    trueup::apps::OperateOptions operate;
    trueup::apps::EnableOptions enable;
    trueup::apps::SimulateOptions simulate;
    trueup::apps::SourceDropOptions source_drop;
    bool no_colours = false;
    std::string log_level;
    std::string shell;  ///< whose completion script is asked for
};

CLI::App* add_demo(CLI::App& app, Options& options) {
    CLI::App* demo = app.add_subcommand(
        "demo", "Run a self-contained demo: a small cluster and table in memory, with incidents");
    demo->add_option("--seconds", options.demo.seconds,
                     "Stop after this many seconds (default 0: until Ctrl-C)");
    demo->add_option("--seed", options.demo.seed,
                     "Seed of the world; the same seed repeats it (default random)");
    demo->add_option(
        "--state-dir", options.demo.state_dir,
        "Keep the world and the engine's state in this folder, and continue from it next time");
    demo->add_flag("--calm", options.demo.calm, "No incidents: nothing goes wrong");
    demo->add_flag("--no-colours", options.no_colours, "Disable colours");
    trueup::apps::add_output(*demo, options.demo.format);
    trueup::apps::add_examples(*demo, "",
                               {"trueup demo", "trueup demo --seconds 60 --seed 7",
                                "trueup demo --state-dir /tmp/demo -o json | jq ."});
    return demo;
}

CLI::App* add_simulate(CLI::App& app, Options& options) {
    CLI::App* simulate = app.add_subcommand(
        "simulate",
        "Test Trueup in a simulated world with lying sources, crashes and stalls, and check every "
        "write");
    trueup::apps::SimulateOptions& o = options.simulate;
    simulate->add_option("--seed", o.seed,
                         "First seed (default 1; 0: random); a seed repeats a run byte by byte");
    simulate->add_option("--runs", o.runs, "Number of runs, with consecutive seeds (default 100)");
    simulate->add_option("--seconds", o.seconds,
                         "Run for this many seconds, instead of a number of runs");
    simulate->add_option("--plan", o.plan,
                         "Kinds of faults (default standard): a plan, several joined as "
                         "rules+rewind, all in turn (all), or every pair (pairs); an unknown "
                         "name lists them");
    simulate->add_option("--jobs", o.jobs, "Runs in parallel (default 1)");
    simulate->add_flag("--keep-going", o.keep_going, "Continue after a run that failed");
    simulate->add_flag_callback(
        "--no-shrink", [&o] { o.shrink = false; },
        "Do not look for the smallest schedule that fails");
    simulate->add_option("--tell", o.tell,
                         "Print the history of this subject (for example wrapper-s7): in the "
                         "smallest schedule that fails, or in the first run if none does");
    trueup::apps::add_output(*simulate, o.format);
    trueup::apps::add_examples(
        *simulate, "0 every run passed, 1 a run failed, 2 the command line is wrong",
        {"trueup simulate --runs 1000 --jobs 2", "trueup simulate --plan all --seconds 600",
         "trueup simulate --plan rewind --seed 436 --runs 1 --tell wrapper-s7"});
    return simulate;
}

CLI::App* add_process(CLI::App& app, Options& options, const std::string& name,
                      const std::string& help) {
    CLI::App* process = app.add_subcommand(name, help);
    trueup::apps::ProcessOptions& o = options.process;
    trueup::apps::add_config(*process, o.config, "Configuration file (default: $TRUEUP_CONFIG)")
        ->required();
    process
        ->add_option("--policy", o.policies,
                     "Run only this policy of the configuration; may be repeated (default all)")
        ->take_all()
        ->allow_extra_args(false);
    process->add_option("--seconds", o.seconds,
                        "Stop after this many seconds (default 0: until Ctrl-C)");
    process->add_option("--listen", o.listen,
                        "Address of the HTTP API as HOST:PORT, or off (default: http.listen of the "
                        "configuration)");
    process->add_flag("--no-colours", options.no_colours, "Disable colours");
    trueup::apps::add_output(*process, o.format);
    trueup::apps::add_examples(*process,
                               "0 stopped on request, 1 gave up and may be restarted, 2 the "
                               "configuration is wrong",
                               {"trueup " + name + " -c trueup.yaml",
                                "TRUEUP_CONFIG=/etc/trueup.yaml trueup " + name + " -o json"});
    return process;
}

void add_enable_all(CLI::App& command, Options& options) {
    command.add_flag("--enable-all", options.process.enable_all,
                     "Enable every rule at once, without a look at what it would do (for tests "
                     "and demos; see trueup policy enable)");
}

void add_pause_file(CLI::App& command, Options& options) {
    command.add_option("--pause-file", options.process.pause_file,
                       "While this file exists, check commands but write nothing");
}

/// The processes, each with the part that it runs.
using Processes = std::vector<std::pair<const CLI::App*, trueup::apps::Part>>;

Processes add_processes(CLI::App& app, Options& options) {
    using trueup::apps::Part;
    CLI::App* up =
        add_process(app, options, "up", "Run connectors, engine and executors in one process");
    add_pause_file(*up, options);
    add_enable_all(*up, options);
    CLI::App* engine = add_process(app, options, "engine", "Run shards of the engine over Kafka");
    add_enable_all(*engine, options);
    engine->add_option("--shards", options.process.shards,
                       "Shards to run, for example 0-3 or 0,2 (default all)");
    engine->add_flag("--follow", options.process.follow,
                     "Follow the journal and answer queries, but issue no commands");
    CLI::App* connect = add_process(app, options, "connect",
                                    "Run connectors: publish changes of the sources to Kafka");
    connect->add_option("SOURCE", options.process.names,
                        "Sources of the configuration (default all)");
    CLI::App* execute = add_process(app, options, "execute",
                                    "Run executors: carry out commands that come over Kafka");
    execute->add_option("KIND", options.process.names,
                        "Kinds of commands, for example delete_pod or update_row (default all that "
                        "are configured)");
    add_pause_file(*execute, options);
    return {{up, Part::kEverything},
            {engine, Part::kEngine},
            {connect, Part::kConnect},
            {execute, Part::kExecute}};
}

using Topics =
    std::vector<std::pair<const CLI::App*, std::function<int(const trueup::apps::TopicsOptions&)>>>;

Topics add_topics(CLI::App& app, Options& options) {
    CLI::App* topics = app.add_subcommand("topics", "Create and check the topics of a Kafka bus");
    topics->require_subcommand(1);
    CLI::App* create = topics->add_subcommand(
        "create", "Create missing topics, keys and the first records of the journals");
    CLI::App* check = topics->add_subcommand(
        "check", "Report missing topics, and settings that contradict the configuration");
    for (CLI::App* command : {create, check}) {
        trueup::apps::add_config(*command, options.topics.config,
                                 "Configuration file (default: $TRUEUP_CONFIG)")
            ->required();
        trueup::apps::add_output(*command, options.topics.format);
        trueup::apps::add_examples(
            *command, "0 no problem, 1 the brokers do not answer, 2 something is wrong",
            {"trueup topics " + command->get_name() + " -c trueup.yaml"});
    }
    return {{create, trueup::apps::run_topics_create}, {check, trueup::apps::run_topics_check}};
}

CLI::App* add_check(CLI::App& app, Options& options) {
    CLI::App* config = app.add_subcommand("config", "Check a configuration");
    config->require_subcommand(1);
    CLI::App* check = config->add_subcommand(
        "check", "Report what is wrong with a configuration, and whether its sources answer");
    trueup::apps::add_config(*check, options.check.config,
                             "Configuration file (default: $TRUEUP_CONFIG)")
        ->required();
    check->add_flag("--offline", options.check.offline, "Do not connect to the sources");
    trueup::apps::add_output(*check, options.check.format);
    trueup::apps::add_examples(
        *check, "0 no problem, 1 a source does not answer, 2 something is wrong",
        {"trueup config check -c trueup.yaml", "trueup config check -c trueup.yaml --offline"});
    return check;
}

/// Its commands, and what each of them runs.
using Policies = std::vector<std::pair<CLI::App*, int (*)(const trueup::apps::PolicyOptions&)>>;
Policies add_policy(CLI::App& app, Options& options) {
    CLI::App* policy =
        app.add_subcommand("policy", "Check, show, test, enable and disable policies");
    policy->require_subcommand(1);
    CLI::App* check = policy->add_subcommand(
        "check", "Report what is wrong with policy files, and what to write instead");
    check->add_option("FILE", options.policy.files, "Policy files");
    check->add_flag("--hash", options.policy.hash,
                    "Print what each rule of the configuration means, for policies[].enabled");
    trueup::apps::add_config(*check, options.policy.config,
                             "Configuration, with --hash (default: $TRUEUP_CONFIG)");
    trueup::apps::add_output(*check, options.policy.format);
    trueup::apps::add_examples(
        *check, "0 all files are valid, 2 something is wrong",
        {"trueup policy check my-policy.yaml", "trueup policy check policies/*.yaml -o json | jq .",
         "trueup policy check --hash -c trueup.yaml"});
    CLI::App* show = policy->add_subcommand(
        "show", "Show a policy as a truth table: what it finds, what it does, and when");
    show->add_option("POLICY", options.policy.policy, "Name of a shipped policy, or a file")
        ->required();
    trueup::apps::add_output(*show, options.policy.format);
    trueup::apps::add_examples(
        *show, "0 shown, 2 there is no such policy",
        {"trueup policy show graph-instances", "trueup policy show my-policy.yaml"});
    return {{check, trueup::apps::run_policy_check}, {show, trueup::apps::run_policy_show}};
}

/// Below `policy`.
CLI::App* add_policy_test(CLI::App& app, Options& options) {
    trueup::apps::PolicyTestOptions& o = options.policy_test;
    CLI::App* test = app.get_subcommand("policy")->add_subcommand(
        "test", "Run the stories (tests) of a policy: what the sources say, and what must follow");
    test->add_option("FILE", o.file, "Policy file")->required();
    test->add_option("STORY", o.stories,
                     "Stories, or folders of them (default: the folder beside FILE that has its "
                     "name without .yaml)");
    test->add_option("--filter", o.filter, "Only stories with this in their path or title");
    test->add_flag("--mutants", o.mutants,
                   "Also run mutation tests: change each part of the policy once, and list the "
                   "changes that no story detects");
    test->add_option("--jobs", o.jobs, "Threads for --mutants (default: one for each core)");
    trueup::apps::add_output(*test, o.format);
    trueup::apps::add_examples(
        *test,
        "0 all went as told, 1 a story went otherwise, a mutant was not noticed, or Ctrl-C, 2 the "
        "policy or a story cannot be read",
        {"trueup policy test policies/workers.yaml",
         "trueup policy test my-policy.yaml my-stories/ --filter orphan",
         "trueup policy test my-policy.yaml --mutants"});
    return test;
}

void add_engine(CLI::App& command, trueup::apps::EngineAddress& engine);

/// Below `policy`: what an operator asks of a running engine.
using Enablings = std::vector<std::pair<CLI::App*, int (*)(const trueup::apps::EnableOptions&)>>;
Enablings add_enabling(CLI::App& policy, Options& options) {
    trueup::apps::EnableOptions& o = options.enable;
    CLI::App* enable = policy.add_subcommand(
        "enable", "Show what rules would do, ask, and let them act by themselves");
    CLI::App* disable = policy.add_subcommand(
        "disable", "Let rules act on approval only, until they are enabled again");
    for (CLI::App* command : {enable, disable}) {
        add_engine(*command, o.engine);
        trueup::apps::add_output(*command, o.format);
        command->add_option("NAME", o.policy, "The policy, as graph-instances")->required();
        command->add_option("RULE", o.rules,
                            command == enable ? "Rules (default: all that act and are not enabled)"
                                              : "Rules (default all)");
        command->add_option("--comment", o.comment, "Why, for the record");
    }
    enable->add_option("--seen", o.seen,
                       "For scripts: the journal offset printed by --dry-run; refused if a rule "
                       "has changed since then (default: what is shown now)");
    enable->add_flag("--yes", o.yes, "Do not ask; goes with --seen");
    enable->add_flag("--dry-run", o.dry_run, "Only show what they would do");
    constexpr const char* kCodes =
        "0 granted or shown, 1 the engine refused it, 2 no engine was asked";
    trueup::apps::add_examples(
        *enable, kCodes,
        {"trueup policy enable graph-instances -c trueup.yaml",
         "trueup policy enable graph-instances orphaned_pod --dry-run -c trueup.yaml",
         "trueup policy enable graph-instances orphaned_pod --seen 1842 --yes -c trueup.yaml"});
    trueup::apps::add_examples(*disable, kCodes,
                               {"trueup policy disable graph-instances orphaned_pod -c trueup.yaml "
                                "--comment 'ticket 42'"});
    return {{enable, trueup::apps::run_policy_enable}, {disable, trueup::apps::run_policy_disable}};
}

CLI::App* add_plan(CLI::App& app, Options& options) {
    CLI::App* plan = app.add_subcommand(
        "plan", "Read both sides once and show what every rule would do; writes nothing");
    trueup::apps::add_config(*plan, options.plan.config,
                             "Configuration file (default: $TRUEUP_CONFIG)")
        ->required();
    plan->add_option("--policy", options.plan.policy, "Only this policy (default all)");
    trueup::apps::add_output(*plan, options.plan.format);
    plan->footer(
        "Each rule that is not off is judged as if it were enforced and every grace were over.\n"
        "In brackets after each command: what would hold it back in a running engine (its mode,\n"
        "its budget, an approval, a window, a quarantine).\n"
        "Only a running engine knows whether a rule is enabled: `trueup policy enable NAME "
        "--dry-run`.");
    trueup::apps::add_examples(
        *plan,
        "0 no findings, 1 a source did not answer, 2 the configuration is wrong, 3 there are "
        "findings",
        {"trueup plan -c trueup.yaml",
         "trueup plan -c trueup.yaml -o json | jq '.findings[] | .command.text'"});
    return plan;
}

CLI::App* add_source(CLI::App& app, Options& options) {
    CLI::App* source = app.add_subcommand("source", "Manage what a source keeps on its server");
    source->require_subcommand(1);
    CLI::App* drop = source->add_subcommand(
        "drop", "Show what a source has left on its server, ask, and remove it");
    trueup::apps::SourceDropOptions& o = options.source_drop;
    drop->add_option("NAME", o.name, "Source of the configuration")->required();
    trueup::apps::add_config(*drop, o.config, "Configuration file (default: $TRUEUP_CONFIG)")
        ->required();
    drop->add_flag("--dry-run", o.dry_run, "Show, but remove nothing");
    drop->add_flag("--yes", o.yes, "Do not ask");
    trueup::apps::add_output(*drop, o.format);
    drop->footer(
        "A PostgreSQL source leaves its replication slot, which keeps WAL until it is read. A\n"
        "slot that is being read, or that the source did not create, is not dropped.\n"
        "Publications, roles and replica identities were created by others: the statements that\n"
        "remove them are printed. A Kubernetes source leaves nothing. -o json does not ask: add\n"
        "--yes or --dry-run.");
    trueup::apps::add_examples(
        *drop,
        "0 nothing is left, or --dry-run, 1 the slot was not dropped, 2 the configuration is "
        "wrong, or the server did not answer",
        {"trueup source drop rows -c trueup.yaml --dry-run",
         "trueup source drop rows -c trueup.yaml",
         "trueup source drop rows -c trueup.yaml --yes -o json | jq .dropped"});
    return drop;
}

/// Which engine.
void add_engine(CLI::App& command, trueup::apps::EngineAddress& engine) {
    // Not by add_config: an engine that is named is meant, whatever the environment says.
    command.add_option("-c,--config", engine.config,
                       "Configuration of the running engine (default: $TRUEUP_CONFIG)");
    command.add_option("--state-dir", engine.state_dir, "State folder of the engine");
    command.add_option("--url", engine.url,
                       "Address of the engine, for example http://127.0.0.1:9464");
    command.add_option("--token-file", engine.token_file,
                       "File with a token on its first line, for --url");
    command.add_option("--ca-file", engine.ca_file,
                       "Certificate authority (PEM), for an https --url");
}

constexpr const char* kAnswered =
    "0 granted or shown, 1 the engine refused it, 2 no engine was asked";

using Operate = std::function<int(const trueup::apps::OperateOptions&)>;
/// What was asked for on the command line, once it was read.
using Chosen = std::vector<std::pair<const CLI::App*, Operate>>;

/// Which of the policies that run there.
void add_policy_name(CLI::App& command, trueup::apps::OperateOptions& options,
                     const std::string& otherwise) {
    command.add_option("--policy", options.policy, "Only this policy (" + otherwise + ")");
}

CLI::App* add_operation(CLI::App& app, Options& options, Chosen& chosen, const std::string& name,
                        const std::string& help, Operate run) {
    CLI::App* command = app.add_subcommand(name, help);
    add_engine(*command, options.operate.engine);
    trueup::apps::add_output(*command, options.operate.format);
    chosen.emplace_back(command, std::move(run));
    return command;
}

void add_findings_list(CLI::App& findings, Options& options, Chosen& chosen) {
    trueup::apps::OperateOptions& o = options.operate;
    CLI::App* list =
        add_operation(findings, options, chosen, "list", "List open findings, and why they wait",
                      trueup::apps::run_findings_list);
    add_policy_name(*list, o, "default all");
    list->add_option("--rule", o.rule, "Only this rule");
    list->add_option("--reason", o.reason, "Only this reason, for example uncorrelated_rows");
    list->add_option("--subject", o.subject, "Only this subject");
    list->add_option("--limit", o.limit, "Maximum number of results (default 100)");
    trueup::apps::add_examples(*list, kAnswered,
                               {"trueup findings list -c trueup.yaml",
                                "trueup findings list -c trueup.yaml --rule missing_pod --limit 10",
                                "trueup findings list --state-dir ./state -o json | jq ."});
}

void add_findings_show(CLI::App& findings, Options& options, Chosen& chosen) {
    trueup::apps::OperateOptions& o = options.operate;
    CLI::App* show = add_operation(findings, options, chosen, "show", "Show one finding",
                                   trueup::apps::run_findings_show);
    show->add_option("FINDING", o.handle, "Id of the finding, from `findings list`")->required();
    trueup::apps::add_examples(*show, kAnswered, {"trueup findings show 3f2a91c0 -c trueup.yaml"});
}

void add_findings_approve(CLI::App& findings, Options& options, Chosen& chosen) {
    trueup::apps::OperateOptions& o = options.operate;
    CLI::App* approve = add_operation(findings, options, chosen, "approve",
                                      "Allow what findings propose, unless they have changed since",
                                      trueup::apps::run_findings_approve);
    approve->add_option("FINDING", o.handle, "Id and offset, from `findings list`");
    add_policy_name(*approve, o, "default all");
    approve->add_option("--rule", o.rule, "All findings of this rule that wait for an approval");
    approve->add_option("--reason", o.reason,
                        "All findings that wait for this reason: approval, "
                        "not_enabled or uncorrelated_rows");
    approve->add_option("--seen", o.seen,
                        "For scripts, with --reason: the journal offset at the end of `findings "
                        "list`; shows nothing and does not ask");
    approve->add_flag("--yes", o.yes, "Do not ask");
    approve->add_flag("--dry-run", o.dry_run, "Show, but approve nothing");
    approve->add_option("--comment", o.comment, "Comment to record with the request");
    trueup::apps::add_examples(
        *approve, kAnswered,
        {"trueup findings approve 3f2a91c0@1842 -c trueup.yaml",
         "trueup findings approve --rule orphaned_pod -c trueup.yaml",
         "trueup findings approve --reason uncorrelated_rows --yes -c trueup.yaml"});
}

void add_findings_dismiss(CLI::App& findings, Options& options, Chosen& chosen) {
    trueup::apps::OperateOptions& o = options.operate;
    CLI::App* dismiss =
        add_operation(findings, options, chosen, "dismiss", "End a finding without a command",
                      trueup::apps::run_findings_dismiss);
    dismiss->add_option("FINDING", o.handle, "Id of the finding, from `findings list`")->required();
    dismiss->add_option("--comment", o.comment, "Comment to record with the request");
    dismiss->add_flag("--drop", o.drop, "Also abandon a termination that is half done");
    trueup::apps::add_examples(
        *dismiss, kAnswered,
        {"trueup findings dismiss 3f2a91c0 -c trueup.yaml --comment 'moved by hand'"});
}

void add_findings(CLI::App& app, Options& options, Chosen& chosen) {
    CLI::App* findings = app.add_subcommand("findings", "List, show, approve and dismiss findings");
    findings->require_subcommand(1);
    add_findings_list(*findings, options, chosen);
    add_findings_show(*findings, options, chosen);
    add_findings_approve(*findings, options, chosen);
    add_findings_dismiss(*findings, options, chosen);
}

void add_why(CLI::App& app, Options& options, Chosen& chosen) {
    namespace apps = trueup::apps;
    apps::OperateOptions& o = options.operate;
    CLI::App* why = add_operation(app, options, chosen, "why",
                                  "Show at which stage each rule stopped for a subject, and why",
                                  apps::run_why);
    why->add_option("SUBJECT", o.subject, "As graph-instances/wrapper-7, or wrapper-7")->required();
    why->add_option("RULE", o.rule, "Only this rule, stage by stage, with what each one looked at");
    why->footer(
        "A rule is judged stage by stage; the first that says something is its answer. With it\n"
        "stand the facts that decided it: the value as it was read, what was asked of it, and the\n"
        "journal offset and time of that object's last change. docs/operations/why.md lists the\n"
        "stages.");
    apps::add_examples(
        *why, "0 shown, 1 unknown subject or rule, 2 no engine was asked",
        {"trueup why wrapper-7 -c trueup.yaml", "trueup why wrapper-7 orphaned_pod -c trueup.yaml",
         "trueup why graph-instances/wrapper-7 --state-dir ./state -o json | jq '.rules[] | "
         "{rule, verdict, reason, stopped_at}'"});
}

void add_cleanup(CLI::App& app, Options& options, Chosen& chosen) {
    CLI::App* cleanup = add_operation(
        app, options, chosen, "cleanup",
        "Show orphaned pods that wait, ask, and approve their deletion", trueup::apps::run_cleanup);
    add_policy_name(*cleanup, options.operate, "default all");
    cleanup->add_flag("--yes", options.operate.yes, "Do not ask");
    trueup::apps::add_examples(*cleanup, kAnswered, {"trueup cleanup -c trueup.yaml"});
}

void add_brakes(CLI::App& app, Options& options, Chosen& chosen) {
    trueup::apps::OperateOptions& o = options.operate;
    const auto add = [&](const std::string& name, const std::string& kind, const std::string& help,
                         const std::string& example) {
        CLI::App* command = add_operation(app, options, chosen, name, help,
                                          [kind](const trueup::apps::OperateOptions& asked) {
                                              return trueup::apps::run_request(asked, kind);
                                          });
        command->add_option("--comment", o.comment, "Comment to record with the request");
        trueup::apps::add_examples(*command, kAnswered, {example});
        return command;
    };
    for (const std::string name : {"pause", "resume"}) {
        CLI::App* brake = add(
            name, name, name == "pause" ? "Stop issuing and carrying out commands" : "End a pause",
            "trueup " + name + " orphaned_pod -c trueup.yaml --comment 'ticket 42'");
        brake->add_option("RULE", o.rule, "One rule (default all)");
        add_policy_name(*brake, o, "default all");
    }
    add("hold", "hold", "Protect one subject from all commands, until `release`",
        "trueup hold graph-instances/wrapper-7 -c trueup.yaml --comment migration")
        ->add_option("SUBJECT", o.subject, "For example graph-instances/wrapper-7")
        ->required();
    add("release", "release", "End a hold",
        "trueup release graph-instances/wrapper-7 -c trueup.yaml")
        ->add_option("SUBJECT", o.subject, "For example graph-instances/wrapper-7")
        ->required();
    CLI::App* unquarantine =
        add("unquarantine", "release", "End a source's quarantine: accept its next snapshot",
            "trueup unquarantine pods -c trueup.yaml --comment 'the namespace was emptied'");
    unquarantine
        ->add_option("SOURCE", o.source, "Name of the source, from /readyz or `findings list`")
        ->required();
    add_policy_name(*unquarantine, o, "default every policy that has this source");
    add("terminate", "terminate", "Terminate one instance: delete its pod, then update its row",
        "trueup terminate graph-instances/wrapper-7 -c trueup.yaml")
        ->add_option("SUBJECT", o.subject, "For example graph-instances/wrapper-7")
        ->required();
    add_policy_name(*add("reconcile", "reconcile", "Judge every subject again, now",
                         "trueup reconcile -c trueup.yaml"),
                    o, "default all");
    add_cleanup(app, options, chosen);
}

/// What is asked of an engine.
Chosen add_operations(CLI::App& app, Options& options) {
    Chosen chosen;
    add_findings(app, options, chosen);
    add_why(app, options, chosen);
    add_brakes(app, options, chosen);
    return chosen;
}

CLI::App* add_completion(CLI::App& app, std::string& shell) {
    CLI::App* completion =
        app.add_subcommand("completion", "Print a completion script for a shell");
    completion->add_option("SHELL", shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember(trueup::apps::shells()).description(""));
    trueup::apps::add_examples(*completion, "",
                               {"source <(trueup completion bash)",
                                "trueup completion fish > ~/.config/fish/completions/trueup.fish"});
    return completion;
}

/// The commands, in the order of the help.
struct Commands {
    const CLI::App* demo;
    const CLI::App* simulate;
    Processes processes;
    Topics topics;
    const CLI::App* check;
    const CLI::App* plan;
    Policies policy;
    const CLI::App* policy_test;
    Enablings enabling;
    const CLI::App* source_drop;
    Chosen operations;
    const CLI::App* completion;
};

Commands add_commands(CLI::App& app, Options& options) {
    Commands all{};
    all.demo = add_demo(app, options);
    all.simulate = add_simulate(app, options);
    all.processes = add_processes(app, options);
    all.topics = add_topics(app, options);
    all.check = add_check(app, options);
    all.plan = add_plan(app, options);
    all.policy = add_policy(app, options);
    all.policy_test = add_policy_test(app, options);
    all.enabling = add_enabling(*app.get_subcommand("policy"), options);
    all.source_drop = add_source(app, options);
    all.operations = add_operations(app, options);
    all.completion = add_completion(app, options.shell);
    return all;
}

/// Runs the command that was written.
int run_command(const Commands& all, Options& options, trueup::apps::StopSignal& stop) {
    namespace apps = trueup::apps;
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
    trueup::apps::StopSignal stop;
    CLI::App app{
        "Trueup finds where your records and the real world disagree, and repairs it safely.",
        "trueup"};
    app.set_version_flag("--version", std::string("trueup ") + trueup::kVersion);
    app.require_subcommand(1);
    Options options;
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
        return trueup::apps::answer_refused(app, error);
    }
    if (commands.completion->parsed()) {
        std::fputs(trueup::apps::completion_script(app, options.shell).c_str(), stdout);
        return 0;
    }
    trueup::apps::use_text_log(options.log_level);
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
