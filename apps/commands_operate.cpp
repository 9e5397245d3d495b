// The commands that ask a running engine: findings, why, and what an operator orders.
#include "apps/command_line.h"
#include "apps/commands.h"
#include "apps/seen_offsets.h"
#include "apps/why.h"

#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {

void add_engine(CLI::App& command, EngineAddress& engine) {
    // Not by add_config: an engine that is named is meant, whatever the environment says.
    command.add_option("-c,--config", engine.config,
                       "Configuration of the running engine (default: $TRUEUP_CONFIG)");
    command.add_option("--state-dir", engine.state_dir, "State folder of the engine");
    add_engine_address(command, engine);
}

void add_engine_address(CLI::App& command, EngineAddress& engine) {
    command.add_option("--url", engine.url,
                       "Address of the engine, for example http://127.0.0.1:9464");
    command.add_option("--token-file", engine.token_file,
                       "File with a token on its first line, for --url");
    command.add_option("--ca-file", engine.ca_file,
                       "Certificate authority (PEM), for an https --url");
}

namespace {

constexpr const char* kAnswered =
    "0 granted or shown, 1 the engine refused it, 2 no engine was asked";

/// Which of the policies that run there.
void add_policy_name(CLI::App& command, OperateOptions& options, const std::string& otherwise) {
    command.add_option("--policy", options.policy, "Only this policy (" + otherwise + ")");
}

CLI::App* add_operation(CLI::App& app, Options& options, Chosen& chosen, const std::string& name,
                        const std::string& help, Operate run) {
    CLI::App* command = app.add_subcommand(name, help);
    add_engine(*command, options.operate.engine);
    add_output(*command, options.operate.format);
    chosen.emplace_back(command, std::move(run));
    return command;
}

void add_findings_list(CLI::App& findings, Options& options, Chosen& chosen) {
    OperateOptions& o = options.operate;
    CLI::App* list = add_operation(findings, options, chosen, "list",
                                   "List open findings, and why they wait", run_findings_list);
    add_policy_name(*list, o, "default all");
    list->add_option("--rule", o.rule, "Only this rule");
    list->add_option("--reason", o.reason, "Only this reason, for example uncorrelated_rows");
    list->add_option("--subject", o.subject, "Only this subject");
    list->add_option("--limit", o.limit, "Maximum number of results (default 100)");
    add_examples(*list, kAnswered,
                 {"trueup findings list -c trueup.yaml",
                  "trueup findings list -c trueup.yaml --rule missing_pod --limit 10",
                  "trueup findings list --state-dir ./state -o json | jq ."});
}

void add_findings_show(CLI::App& findings, Options& options, Chosen& chosen) {
    OperateOptions& o = options.operate;
    CLI::App* show =
        add_operation(findings, options, chosen, "show", "Show one finding", run_findings_show);
    show->add_option("FINDING", o.handle, "Id of the finding, from `findings list`")->required();
    add_examples(*show, kAnswered, {"trueup findings show 3f2a91c0 -c trueup.yaml"});
}

void add_findings_approve(CLI::App& findings, Options& options, Chosen& chosen) {
    OperateOptions& o = options.operate;
    CLI::App* approve = add_operation(findings, options, chosen, "approve",
                                      "Allow what findings propose, unless they have changed since",
                                      run_findings_approve);
    approve->add_option("FINDING", o.handle, "Id and offset, from `findings list`");
    add_policy_name(*approve, o, "default all");
    approve->add_option("--rule", o.rule, "All findings of this rule that wait for an approval");
    approve->add_option("--reason", o.reason,
                        "All findings that wait for this reason: approval, not_enabled, recurring, "
                        "or that of a count, for example uncorrelated_rows");
    const auto take_seen = [&o](const std::string& text) {
        const Result<std::vector<Offset>> seen = parse_seen(text);
        // An unset variable of a script, which would have approved what nobody had looked at.
        if (text.empty()) throw CLI::ValidationError("--seen is empty; write a journal offset");
        if (!seen) throw CLI::ValidationError(seen.error().what);
        o.seen = *seen;
    };
    approve->add_option_function<std::string>(
        "--seen", take_seen,
        "For scripts, with --reason: the journal offset at the end of `findings list` (of several "
        "shards one for each, as 242.159); shows nothing and does not ask");
    approve->add_flag("--yes", o.yes, "Do not ask");
    approve->add_flag("--dry-run", o.dry_run, "Show, but approve nothing");
    approve->add_option("--comment", o.comment, "Comment to record with the request");
    add_examples(*approve, kAnswered,
                 {"trueup findings approve 3f2a91c0@1842 -c trueup.yaml",
                  "trueup findings approve --rule orphaned_pod -c trueup.yaml",
                  "trueup findings approve --reason uncorrelated_rows --yes -c trueup.yaml"});
}

void add_findings_dismiss(CLI::App& findings, Options& options, Chosen& chosen) {
    OperateOptions& o = options.operate;
    CLI::App* dismiss = add_operation(findings, options, chosen, "dismiss",
                                      "End a finding without a command", run_findings_dismiss);
    dismiss->add_option("FINDING", o.handle, "Id of the finding, from `findings list`")->required();
    dismiss->add_option("--comment", o.comment, "Comment to record with the request");
    dismiss->add_flag("--drop", o.drop, "Also abandon a termination that is half done");
    add_examples(*dismiss, kAnswered,
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
    OperateOptions& o = options.operate;
    CLI::App* why =
        add_operation(app, options, chosen, "why",
                      "Show at which stage each rule stopped for a subject, and why", run_why);
    why->add_option("SUBJECT", o.subject, "As graph-instances/wrapper-7, or wrapper-7")->required();
    why->add_option("RULE", o.rule, "Only this rule, stage by stage, with what each one looked at");
    why->footer(
        "A rule is judged stage by stage; the first that says something is its answer. With it\n"
        "stand the facts that decided it: the value as it was read, what was asked of it, and the\n"
        "journal offset and time of that object's last change. docs/operations/why.md lists the\n"
        "stages.");
    add_examples(
        *why, "0 shown, 1 unknown subject or rule, 2 no engine was asked",
        {"trueup why wrapper-7 -c trueup.yaml", "trueup why wrapper-7 orphaned_pod -c trueup.yaml",
         "trueup why graph-instances/wrapper-7 --state-dir ./state -o json | jq '.rules[] | "
         "{rule, verdict, reason, stopped_at}'"});
}

void add_cleanup(CLI::App& app, Options& options, Chosen& chosen) {
    CLI::App* cleanup = add_operation(
        app, options, chosen, "cleanup",
        "Show what a rule waits to delete, ask, and approve its deletion", run_cleanup);
    add_policy_name(*cleanup, options.operate, "default all");
    cleanup->add_option("--rule", options.operate.rule,
                        "The rule whose deletions are meant (default: the only one that waits)");
    cleanup->add_flag("--yes", options.operate.yes, "Do not ask");
    add_examples(
        *cleanup, kAnswered,
        {"trueup cleanup -c trueup.yaml", "trueup cleanup -c trueup.yaml --rule orphaned_pod"});
}

/// A command that is one request of that kind.
CLI::App* add_request(CLI::App& app, Options& options, Chosen& chosen, const std::string& name,
                      const std::string& kind, const std::string& help,
                      const std::string& example) {
    CLI::App* command =
        add_operation(app, options, chosen, name, help,
                      [kind](const OperateOptions& asked) { return run_request(asked, kind); });
    command->add_option("--comment", options.operate.comment, "Comment to record with the request");
    add_examples(*command, kAnswered, {example});
    return command;
}

void add_brakes(CLI::App& app, Options& options, Chosen& chosen) {
    OperateOptions& o = options.operate;
    const auto add = [&](const std::string& name, const std::string& kind, const std::string& help,
                         const std::string& example) {
        return add_request(app, options, chosen, name, kind, help, example);
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
    CLI::App* request =
        add("request", "request", "Ask for what a rule with `requested: NAME` does about a subject",
            "trueup request drain workers/worker-7 -c trueup.yaml");
    request->add_option("NAME", o.name, "One of the policy's requests, as in `trueup policy show`")
        ->required();
    request->add_option("SUBJECT", o.subject, "For example workers/worker-7")->required();
    add_policy_name(*add("reconcile", "reconcile", "Judge every subject again, now",
                         "trueup reconcile -c trueup.yaml"),
                    o, "default all");
    add_cleanup(app, options, chosen);
}

}  // namespace

Chosen add_operations(CLI::App& app, Options& options) {
    Chosen chosen;
    add_findings(app, options, chosen);
    add_why(app, options, chosen);
    add_brakes(app, options, chosen);
    return chosen;
}

}  // namespace trueup::apps
