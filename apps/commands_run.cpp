// The commands that run an engine, or a part of one: the demo, the simulation and the processes.
#include "apps/command_line.h"
#include "apps/commands.h"

#include <string>

namespace trueup::apps {

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
    add_output(*demo, options.demo.format);
    add_examples(*demo, "",
                 {"trueup demo", "trueup demo --seconds 60 --seed 7",
                  "trueup demo --state-dir /tmp/demo -o json | jq ."});
    return demo;
}

CLI::App* add_simulate(CLI::App& app, Options& options) {
    CLI::App* simulate = app.add_subcommand(
        "simulate",
        "Test Trueup in a simulated world with lying sources, crashes and stalls, and check every "
        "write");
    SimulateOptions& o = options.simulate;
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
    add_output(*simulate, o.format);
    add_examples(
        *simulate, "0 every run passed, 1 a run failed, 2 the command line is wrong",
        {"trueup simulate --runs 1000 --jobs 2", "trueup simulate --plan all --seconds 600",
         "trueup simulate --plan rewind --seed 436 --runs 1 --tell wrapper-s7"});
    return simulate;
}

namespace {

CLI::App* add_process(CLI::App& app, Options& options, const std::string& name,
                      const std::string& help) {
    CLI::App* process = app.add_subcommand(name, help);
    ProcessOptions& o = options.process;
    add_config(*process, o.config, "Configuration file (default: $TRUEUP_CONFIG)")->required();
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
    add_output(*process, o.format);
    add_examples(*process,
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

}  // namespace

Processes add_processes(CLI::App& app, Options& options) {
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

}  // namespace trueup::apps
