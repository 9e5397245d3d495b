// The commands around an engine that need none: topics, the configuration, a plan, what a source
// leaves on its server, and completion.
#include "apps/command_line.h"
#include "apps/commands.h"
#include "apps/completion.h"

#include <string>

namespace trueup::apps {

Topics add_topics(CLI::App& app, Options& options) {
    CLI::App* topics = app.add_subcommand("topics", "Create and check the topics of a Kafka bus");
    topics->require_subcommand(1);
    CLI::App* create = topics->add_subcommand(
        "create", "Create missing topics, keys and the first records of the journals");
    CLI::App* check = topics->add_subcommand(
        "check", "Report missing topics, and settings that contradict the configuration");
    for (CLI::App* command : {create, check}) {
        add_config(*command, options.topics.config, "Configuration file (default: $TRUEUP_CONFIG)")
            ->required();
        add_output(*command, options.topics.format);
        add_examples(*command, "0 no problem, 1 the brokers do not answer, 2 something is wrong",
                     {"trueup topics " + command->get_name() + " -c trueup.yaml"});
    }
    return {{create, run_topics_create}, {check, run_topics_check}};
}

CLI::App* add_check(CLI::App& app, Options& options) {
    CLI::App* config = app.add_subcommand("config", "Check a configuration");
    config->require_subcommand(1);
    CLI::App* check = config->add_subcommand(
        "check", "Report what is wrong with a configuration, and whether its sources answer");
    add_config(*check, options.check.config, "Configuration file (default: $TRUEUP_CONFIG)")
        ->required();
    check->add_flag("--offline", options.check.offline, "Do not connect to the sources");
    add_output(*check, options.check.format);
    add_examples(
        *check, "0 no problem, 1 a source does not answer, 2 something is wrong",
        {"trueup config check -c trueup.yaml", "trueup config check -c trueup.yaml --offline"});
    return check;
}

CLI::App* add_plan(CLI::App& app, Options& options) {
    CLI::App* plan = app.add_subcommand(
        "plan", "Read both sides once and show what every rule would do; writes nothing");
    add_config(*plan, options.plan.config, "Configuration file (default: $TRUEUP_CONFIG)")
        ->required();
    plan->add_option("--policy", options.plan.policy, "Only this policy (default all)");
    add_engine_address(*plan, options.plan.engine);
    add_output(*plan, options.plan.format);
    plan->footer(
        "Each rule that is not off is judged as if it were enforced and every grace were over.\n"
        "In brackets after each command: what would hold it back in a running engine (its mode,\n"
        "its budget, an approval, a window, a quarantine).\n"
        "Where the configuration's engine answers, what would be looser than what is in force "
        "there\n"
        "(a mode, a grace, a budget, a window) is named.\n"
        "Only a running engine knows whether a rule is enabled: `trueup policy enable NAME "
        "--dry-run`.");
    add_examples(
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
    SourceDropOptions& o = options.source_drop;
    drop->add_option("NAME", o.name, "Source of the configuration")->required();
    add_config(*drop, o.config, "Configuration file (default: $TRUEUP_CONFIG)")->required();
    drop->add_flag("--dry-run", o.dry_run, "Show, but remove nothing");
    drop->add_flag("--yes", o.yes, "Do not ask");
    add_output(*drop, o.format);
    drop->footer(
        "A PostgreSQL source leaves its replication slot, which keeps WAL until it is read. A\n"
        "slot that is being read, or that the source did not create, is not dropped.\n"
        "Publications, roles and replica identities were created by others: the statements that\n"
        "remove them are printed. A Kubernetes source leaves nothing. -o json does not ask: add\n"
        "--yes or --dry-run.");
    add_examples(
        *drop,
        "0 nothing is left, or --dry-run, 1 the slot was not dropped, 2 the configuration is "
        "wrong, or the server did not answer",
        {"trueup source drop rows -c trueup.yaml --dry-run",
         "trueup source drop rows -c trueup.yaml",
         "trueup source drop rows -c trueup.yaml --yes -o json | jq .dropped"});
    return drop;
}

CLI::App* add_completion(CLI::App& app, std::string& shell) {
    CLI::App* completion =
        app.add_subcommand("completion", "Print a completion script for a shell");
    completion->add_option("SHELL", shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember(shells()).description(""));
    add_examples(*completion, "",
                 {"source <(trueup completion bash)",
                  "trueup completion fish > ~/.config/fish/completions/trueup.fish"});
    return completion;
}

}  // namespace trueup::apps
