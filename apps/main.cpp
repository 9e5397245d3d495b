// The `trueup` binary: parses the command line and calls one file per subcommand.
#include "apps/command_line.h"
#include "apps/config_check.h"
#include "apps/demo.h"
#include "apps/operate.h"
#include "apps/plan.h"
#include "apps/process.h"
#include "apps/simulate.h"
#include "apps/source_drop.h"
#include "apps/topics.h"
#include "engine/base/version.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
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
    trueup::apps::OperateOptions operate;
    trueup::apps::SimulateOptions simulate;
    trueup::apps::SourceDropOptions source_drop;
    bool no_colours = false;
    std::string log_level = "warn";
};

CLI::App* add_demo(CLI::App& app, Options& options) {
    CLI::App* demo = app.add_subcommand(
        "demo",
        "Run everything over a small world in memory, in which things go wrong by themselves");
    demo->add_option("--seconds", options.demo.seconds, "End after this many seconds (0: Ctrl-C)");
    demo->add_option("--seed", options.demo.seed, "Repeat the world of this seed");
    demo->add_option("--state-dir", options.demo.state_dir,
                     "Keep world and engine here and go on from there the next time");
    demo->add_flag("--calm", options.demo.calm, "Nothing new goes wrong");
    demo->add_flag("--no-colours", options.no_colours, "Plain text");
    trueup::apps::add_output(*demo, options.demo.format);
    trueup::apps::add_examples(*demo, "",
                               {"trueup demo", "trueup demo --seconds 60 --seed 7",
                                "trueup demo --state-dir /tmp/demo -o json | jq ."});
    return demo;
}

CLI::App* add_simulate(CLI::App& app, Options& options) {
    CLI::App* simulate = app.add_subcommand(
        "simulate",
        "Run everything in a simulated world that lies, crashes and stalls, and hold what it does "
        "against what was so");
    trueup::apps::SimulateOptions& o = options.simulate;
    simulate->add_option("--seed", o.seed,
                         "The first seed (1); a seed repeats a run to the byte; 0: a fresh one");
    simulate->add_option("--runs", o.runs, "So many seeds from there on (100)");
    simulate->add_option("--seconds", o.seconds, "As many runs as end in this time, instead");
    simulate->add_option("--plan", o.plan,
                         "What happens (standard): one, several as rules+rewind, all of them in "
                         "turn (all), or every two (pairs); a name that is none lists them");
    simulate->add_option("--jobs", o.jobs, "So many runs at once (1)");
    simulate->add_flag("--keep-going", o.keep_going, "Go on behind a run that failed");
    simulate->add_flag("!--no-shrink", o.shrink, "Do not look for the least that fails");
    simulate->add_option("--tell", o.tell,
                         "Print what happened around this name (wrapper-s7), in the least that "
                         "fails or else in the first run");
    trueup::apps::add_output(*simulate, o.format);
    trueup::apps::add_examples(
        *simulate, "0 every run was good, 1 a run failed, 2 the command line is wrong",
        {"trueup simulate --runs 1000 --jobs 2", "trueup simulate --plan all --seconds 600",
         "trueup simulate --plan rewind --seed 436 --runs 1 --tell wrapper-s7"});
    return simulate;
}

CLI::App* add_process(CLI::App& app, Options& options, const std::string& name,
                      const std::string& help) {
    CLI::App* process = app.add_subcommand(name, help);
    trueup::apps::ProcessOptions& o = options.process;
    trueup::apps::add_config(*process, o.config, "The configuration file")->required();
    process->add_option("--seconds", o.seconds, "End after this many seconds (0: Ctrl-C)");
    process->add_option("--listen", o.listen, "HOST:PORT of the HTTP side, or off");
    process->add_flag("--no-colours", options.no_colours, "Plain text");
    trueup::apps::add_output(*process, o.format);
    trueup::apps::add_examples(*process,
                               "0 it was stopped, 1 it gave up and may be started again, 2 the "
                               "configuration is wrong",
                               {"trueup " + name + " -c trueup.yaml",
                                "TRUEUP_CONFIG=/etc/trueup.yaml trueup " + name + " -o json"});
    return process;
}

void add_pause_file(CLI::App& command, Options& options) {
    command.add_option("--pause-file", options.process.pause_file,
                       "While this file exists, executors check but hold every write");
}

/// The processes, each with the part that it runs.
using Processes = std::vector<std::pair<const CLI::App*, trueup::apps::Part>>;

Processes add_processes(CLI::App& app, Options& options) {
    using trueup::apps::Part;
    CLI::App* up = add_process(
        app, options, "up",
        "Run connectors, engine and executors in one process, as the configuration says");
    add_pause_file(*up, options);
    CLI::App* engine = add_process(app, options, "engine",
                                   "Run shards of the engine over Kafka, and nothing else");
    engine->add_option("--shards", options.process.shards, "As 0-3 or 0,2; all, if left out");
    engine->add_flag("--follow", options.process.follow,
                     "Fold and answer questions, but emit nothing");
    CLI::App* connect =
        add_process(app, options, "connect", "Publish what sources say to Kafka, and nothing else");
    connect->add_option("SOURCE", options.process.names, "Of the configuration; all, if left out");
    CLI::App* execute = add_process(app, options, "execute",
                                    "Carry out commands that come over Kafka, and nothing else");
    execute->add_option("KIND", options.process.names,
                        "As delete_pod or update_row; all that are configured, if left out");
    add_pause_file(*execute, options);
    return {{up, Part::kEverything},
            {engine, Part::kEngine},
            {connect, Part::kConnect},
            {execute, Part::kExecute}};
}

using Topics =
    std::vector<std::pair<const CLI::App*, std::function<int(const trueup::apps::TopicsOptions&)>>>;

Topics add_topics(CLI::App& app, Options& options) {
    CLI::App* topics = app.add_subcommand("topics", "Look after the topics of a Kafka bus");
    topics->require_subcommand(1);
    CLI::App* create = topics->add_subcommand(
        "create", "Make the topics, the journals' first records and the keys that are missing");
    CLI::App* check =
        topics->add_subcommand("check", "Say what is missing, and what contradicts the settings");
    for (CLI::App* command : {create, check}) {
        trueup::apps::add_config(*command, options.topics.config, "The configuration file")
            ->required();
        trueup::apps::add_output(*command, options.topics.format);
        trueup::apps::add_examples(
            *command, "0 all is well, 1 the brokers do not answer, 2 something is wrong",
            {"trueup topics " + command->get_name() + " -c trueup.yaml"});
    }
    return {{create, trueup::apps::run_topics_create}, {check, trueup::apps::run_topics_check}};
}

CLI::App* add_check(CLI::App& app, Options& options) {
    CLI::App* config = app.add_subcommand("config", "Look at a configuration");
    config->require_subcommand(1);
    CLI::App* check = config->add_subcommand(
        "check", "Say what is wrong with a configuration, and whether its sources answer");
    trueup::apps::add_config(*check, options.check.config, "The configuration file")->required();
    check->add_flag("--offline", options.check.offline, "Do not ask the sources");
    trueup::apps::add_output(*check, options.check.format);
    trueup::apps::add_examples(
        *check, "0 all is well, 1 a source does not answer, 2 something is wrong",
        {"trueup config check -c trueup.yaml", "trueup config check -c trueup.yaml --offline"});
    return check;
}

CLI::App* add_plan(CLI::App& app, Options& options) {
    CLI::App* plan = app.add_subcommand(
        "plan", "Read both sides once and say what every rule would do; nothing is written");
    trueup::apps::add_config(*plan, options.plan.config, "The configuration file")->required();
    trueup::apps::add_output(*plan, options.plan.format);
    plan->footer(
        "Each rule that is not off is judged as if it were enforced and every grace were over.\n"
        "What would hold a command in earnest stands behind it: its mode, its budget, an\n"
        "approval, a window, a quarantine.");
    trueup::apps::add_examples(
        *plan,
        "0 nothing was found, 3 something was, 2 the configuration is wrong, 1 a source did not "
        "answer",
        {"trueup plan -c trueup.yaml",
         "trueup plan -c trueup.yaml -o json | jq '.findings[] | .command.text'"});
    return plan;
}

CLI::App* add_source(CLI::App& app, Options& options) {
    CLI::App* source = app.add_subcommand("source", "Look after what a source has at its server");
    source->require_subcommand(1);
    CLI::App* drop = source->add_subcommand(
        "drop", "Say what a source has left at its server, ask, and remove it");
    trueup::apps::SourceDropOptions& o = options.source_drop;
    drop->add_option("NAME", o.name, "Of the configuration")->required();
    trueup::apps::add_config(*drop, o.config, "The configuration file")->required();
    drop->add_flag("--dry-run", o.dry_run, "Only say what there is");
    drop->add_flag("--yes", o.yes, "Do not ask");
    trueup::apps::add_output(*drop, o.format);
    drop->footer(
        "Of a PostgreSQL source that is its replication slot, which keeps WAL until somebody "
        "reads\n"
        "it. One that is being read, or is not such as the source makes, stays. Publications, "
        "roles\n"
        "and replica identities were made by others: it is said what removes them. A Kubernetes\n"
        "source leaves nothing. With -o json nothing is asked: it takes --yes, or --dry-run.");
    trueup::apps::add_examples(
        *drop,
        "0 nothing is left, or --dry-run, 1 the slot stays, and why, 2 the configuration is wrong, "
        "or the server did not answer",
        {"trueup source drop rows -c trueup.yaml --dry-run",
         "trueup source drop rows -c trueup.yaml",
         "trueup source drop rows -c trueup.yaml --yes -o json | jq .dropped"});
    return drop;
}

/// Which engine, and how to show its answer.
void add_engine(CLI::App& command, Options& options) {
    trueup::apps::EngineAddress& engine = options.operate.engine;
    // Not by add_config: whoever names an engine means that one, whatever the environment says.
    command.add_option("-c,--config", engine.config,
                       "The configuration of the running engine (else TRUEUP_CONFIG)");
    command.add_option("--state-dir", engine.state_dir, "Its state folder");
    command.add_option("--url", engine.url, "Its address, as http://127.0.0.1:9464");
    command.add_option("--token-file", engine.token_file, "A file with a token, for --url");
    command.add_option("--ca-file", engine.ca_file, "Whom to believe, for an https --url");
    trueup::apps::add_output(command, options.operate.format);
}

constexpr const char* kAnswered =
    "0 granted or shown, 1 the engine refused it, 2 no engine was asked";

using Operate = std::function<int(const trueup::apps::OperateOptions&)>;
/// What was asked for on the command line, once it was read.
using Chosen = std::vector<std::pair<const CLI::App*, Operate>>;

CLI::App* add_operation(CLI::App& app, Options& options, Chosen& chosen, const std::string& name,
                        const std::string& help, Operate run) {
    CLI::App* command = app.add_subcommand(name, help);
    add_engine(*command, options);
    chosen.emplace_back(command, std::move(run));
    return command;
}

void add_findings(CLI::App& app, Options& options, Chosen& chosen) {
    namespace apps = trueup::apps;
    apps::OperateOptions& o = options.operate;
    CLI::App* findings = app.add_subcommand("findings", "Look at findings, and decide on them");
    findings->require_subcommand(1);
    CLI::App* list = add_operation(*findings, options, chosen, "list", "Show what is open, and why",
                                   apps::run_findings_list);
    list->add_option("--rule", o.rule, "Of this rule only");
    list->add_option("--because", o.because, "With this reason only, as uncorrelated_rows");
    list->add_option("--subject", o.subject, "About this subject only");
    list->add_option("--limit", o.limit, "Maximum number of results (default 100)");
    trueup::apps::add_examples(*list, kAnswered,
                               {"trueup findings list -c trueup.yaml",
                                "trueup findings list -c trueup.yaml --rule missing_pod --limit 10",
                                "trueup findings list --state-dir ./state -o json | jq ."});
    CLI::App* show = add_operation(*findings, options, chosen, "show", "Show one finding",
                                   apps::run_findings_show);
    show->add_option("FINDING", o.handle, "As the list shows it")->required();
    trueup::apps::add_examples(*show, kAnswered, {"trueup findings show 3f2a91c0 -c trueup.yaml"});
    CLI::App* approve =
        add_operation(*findings, options, chosen, "approve",
                      "Let what a finding proposes be done, unless it has changed since",
                      apps::run_findings_approve);
    approve->add_option("FINDING", o.handle, "As the list shows it, with its offset");
    approve->add_option("--because", o.because,
                        "All that wait for this: uncorrelated_rows, or approval");
    approve->add_option("--seen", o.seen, "The journal offset under the list that you saw");
    approve->add_option("--rule", o.rule, "Of this rule only");
    approve->add_option("--reason", o.reason, "Why, for the record");
    trueup::apps::add_examples(
        *approve, kAnswered,
        {"trueup findings approve 3f2a91c0@1842 -c trueup.yaml",
         "trueup findings approve --because approval --seen 1842 -c trueup.yaml"});
    CLI::App* dismiss = add_operation(*findings, options, chosen, "dismiss",
                                      "End a finding without a command, until it comes up anew",
                                      apps::run_findings_dismiss);
    dismiss->add_option("FINDING", o.handle, "As the list shows it")->required();
    dismiss->add_option("--reason", o.reason, "Why, for the record");
    dismiss->add_flag("--drop", o.drop, "Also drops an ending that is half done");
    trueup::apps::add_examples(
        *dismiss, kAnswered,
        {"trueup findings dismiss 3f2a91c0 -c trueup.yaml --reason 'moved by hand'"});
}

void add_brakes(CLI::App& app, Options& options, Chosen& chosen) {
    trueup::apps::OperateOptions& o = options.operate;
    const auto add = [&](const std::string& name, const std::string& kind, const std::string& help,
                         const std::string& example) {
        CLI::App* command = add_operation(app, options, chosen, name, help,
                                          [kind](const trueup::apps::OperateOptions& asked) {
                                              return trueup::apps::run_request(asked, kind);
                                          });
        command->add_option("--reason", o.reason, "Why, for the record");
        trueup::apps::add_examples(*command, kAnswered, {example});
        return command;
    };
    for (const std::string name : {"pause", "resume"}) {
        add(name, name,
            name == "pause" ? "Issue no command, and carry none out, until resume" : "End a pause",
            "trueup " + name + " orphaned_pod -c trueup.yaml --reason 'ticket 42'")
            ->add_option("RULE", o.rule, "One rule only; else all of them");
    }
    add("hold", "hold", "Let nothing happen to one subject",
        "trueup hold graph-instances/wrapper-7 -c trueup.yaml --reason migration")
        ->add_option("SUBJECT", o.subject, "As graph-instances/wrapper-7")
        ->required();
    CLI::App* release = add("release", "release", "End a hold, or a source's quarantine",
                            "trueup release --source pods -c trueup.yaml");
    release->add_option("SUBJECT", o.subject, "As graph-instances/wrapper-7");
    release->add_option("--source", o.source, "Believe the next list of this source");
    add("terminate", "terminate", "End one instance: its pod, then its row",
        "trueup terminate graph-instances/wrapper-7 -c trueup.yaml")
        ->add_option("SUBJECT", o.subject, "As graph-instances/wrapper-7")
        ->required();
    add("reconcile", "pass", "Start a pass at once", "trueup reconcile -c trueup.yaml");
    CLI::App* cleanup =
        add_operation(app, options, chosen, "cleanup",
                      "List the orphaned pods that are there, ask, and have them deleted",
                      trueup::apps::run_cleanup);
    cleanup->add_flag("--yes", o.yes, "Do not ask");
    trueup::apps::add_examples(*cleanup, kAnswered, {"trueup cleanup -c trueup.yaml"});
}

int run(int argc, char** argv) {
    // What we write, keys and journal among it, is our account's alone.
    ::umask(S_IRWXG | S_IRWXO);
    trueup::apps::StopSignal stop;
    CLI::App app{"Trueup: finds where what is said and what is there disagree, and puts it right.",
                 "trueup"};
    app.set_version_flag("--version", std::string("trueup ") + trueup::kVersion);
    app.require_subcommand(1);
    Options options;
    app.add_option("--log-level", options.log_level, "debug, info, warn (default) or error")
        ->check(CLI::IsMember({"debug", "info", "warn", "error"}))
        ->type_name("LEVEL");
    const CLI::App* demo = add_demo(app, options);
    const CLI::App* simulate = add_simulate(app, options);
    const Processes processes = add_processes(app, options);
    const Topics topics = add_topics(app, options);
    const CLI::App* check = add_check(app, options);
    const CLI::App* plan = add_plan(app, options);
    const CLI::App* source_drop = add_source(app, options);
    Chosen chosen;
    add_findings(app, options, chosen);
    add_brakes(app, options, chosen);
    // Last, or each command would have it, too.
    app.footer(
        "`trueup COMMAND --help` has the options of a command, its exit codes and examples. To\n"
        "begin: `trueup demo`. TRUEUP_CONFIG names the configuration where -c is left out.");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return trueup::apps::answer_refused(app, error);
    }
    spdlog::set_default_logger(spdlog::stderr_color_mt("trueup"));
    spdlog::set_level(spdlog::level::from_str(options.log_level));
    const bool colours = !options.no_colours && isatty(STDOUT_FILENO) != 0;
    options.demo.colours = options.process.colours = colours;
    if (demo->parsed()) return trueup::apps::run_demo(options.demo, stop);
    for (const auto& [command, part] : processes) {
        options.process.part = part;
        if (command->parsed()) return trueup::apps::run_process(options.process, stop);
    }
    for (const auto& [command, run_topics] : topics) {
        if (command->parsed()) return run_topics(options.topics);
    }
    if (simulate->parsed()) return trueup::apps::run_simulate(options.simulate, stop);
    if (check->parsed()) return trueup::apps::run_config_check(options.check, stop);
    if (plan->parsed()) return trueup::apps::run_plan(options.plan, stop);
    if (source_drop->parsed()) return trueup::apps::run_source_drop(options.source_drop);
    for (const auto& [command, operate] : chosen) {
        if (command->parsed()) return operate(options.operate);
    }
    return 2;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        // What a library throws ends in its adapter; this is for what nobody thought of.
        std::fprintf(stderr, "trueup: %s\n", error.what());
        return 1;
    }
}
