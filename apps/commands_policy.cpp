// `trueup policy` and what is below it.
#include "apps/command_line.h"
#include "apps/commands.h"

namespace trueup::apps {

Policies add_policy(CLI::App& app, Options& options) {
    CLI::App* policy = app.add_subcommand(
        "policy", "Write, check, show, compare, test, enable and disable policies");
    policy->require_subcommand(1);
    CLI::App* check = policy->add_subcommand(
        "check", "Report what is wrong with policy files, and what to write instead");
    check->add_option("FILE", options.policy.files, "Policy files");
    check->add_flag("--hash", options.policy.hash,
                    "Print what each rule of the configuration means, for policies[].enabled");
    add_config(*check, options.policy.config,
               "Configuration that they would run in; with --hash, whose rules are meant (default: "
               "$TRUEUP_CONFIG)");
    add_output(*check, options.policy.format);
    add_examples(
        *check, "0 all files are valid, 2 something is wrong",
        {"trueup policy check my-policy.yaml", "trueup policy check policies/*.yaml -o json | jq .",
         "trueup policy check --hash -c trueup.yaml"});
    CLI::App* show = policy->add_subcommand(
        "show", "Show a policy as a truth table: what it finds, what it does, and when");
    show->add_option("POLICY", options.policy.policy,
                     "Name of a shipped policy, or a file; with --rbac of one of the "
                     "configuration (default: all of them)");
    show->add_flag("--rbac", options.policy.rbac,
                   "Print the rights that the configuration takes in Kubernetes, for `kubectl "
                   "apply -f -`");
    show->add_option("--service-account", options.policy.account,
                     "Who gets them, as NAMESPACE/NAME (default trueup/trueup)");
    add_config(*show, options.policy.config,
               "With --rbac: the configuration (default: $TRUEUP_CONFIG)");
    add_output(*show, options.policy.format);
    add_examples(*show, "0 shown, 2 there is no such policy",
                 {"trueup policy show graph-instances", "trueup policy show my-policy.yaml",
                  "trueup policy show --rbac -c trueup.yaml | kubectl apply -f -"});
    CLI::App* schema = policy->add_subcommand(
        "schema", "Print the JSON Schema of policy files, which editors complete and check by");
    add_examples(*schema, "",
                 {"trueup policy schema > policy.schema.json",
                  "sed -i '1i # yaml-language-server: $schema=policy.schema.json' workers.yaml"});
    return {{check, run_policy_check}, {show, run_policy_show}, {schema, run_policy_schema}};
}

CLI::App* add_policy_diff(CLI::App& app, Options& options) {
    PolicyDiffOptions& o = options.policy_diff;
    CLI::App* diff = app.get_subcommand("policy")->add_subcommand(
        "diff",
        "Show what changes when one text of a policy takes the place of another: rules, "
        "rights, SQL, what has to be enabled again, and over a journal the commands");
    diff->add_option("OLD", o.before, "Name of a shipped policy, or a file")->required();
    diff->add_option("NEW", o.now, "Likewise")->required();
    diff->add_option(
        "--journal", o.journal,
        "Also replay a recorded journal under both, and show the commands that differ: "
        "a state folder or a configuration file; reads only, also beside a running "
        "engine");
    add_output(*diff, o.format);
    add_examples(*diff,
                 "0 they mean the same, 1 they do not, 2 one of them or the journal cannot be "
                 "read; with --journal: 0 no command differs, 1 some do",
                 {"trueup policy diff graph-instances my-graph-instances.yaml",
                  "git show HEAD:workers.yaml > /tmp/old.yaml && trueup policy diff /tmp/old.yaml "
                  "workers.yaml",
                  "trueup policy diff /tmp/old.yaml workers.yaml --journal trueup.yaml",
                  "trueup policy diff /tmp/old.yaml workers.yaml --journal ./state -o json | jq "
                  "'.commands.only_new'"});
    return diff;
}

CLI::App* add_policy_new(CLI::App& app, Options& options) {
    PolicyNewOptions& o = options.policy_new;
    CLI::App* command = app.get_subcommand("policy")->add_subcommand(
        "new",
        "Look at a table and at objects of Kubernetes, and write a policy, its stories and "
        "a configuration for them");
    command->add_option("NAME", o.name, "Name of the policy, as workers")->required();
    command->add_option("--table", o.table,
                        "Table with one row for each object, as public.workers");
    command->add_option("--conninfo-env", o.conninfo_env,
                        "Environment variable with the connection string of its database (default "
                        "TRUEUP_DATABASE)");
    command->add_option("--conninfo-file", o.conninfo_file, "File with the connection string");
    command->add_option("--namespace", o.name_space, "Namespace of the objects");
    command
        ->add_flag("--all-namespaces", o.all_namespaces,
                   "Objects of every namespace, or of a resource that has none")
        ->excludes("--namespace");
    command->add_option("--resource", o.resource,
                        "Resource, as v1/services or apps/v1/deployments (default pods)");
    command->add_option("--selector", o.selector, "Label selector of the objects, as role=worker");
    command->add_option("--kubeconfig", o.kubeconfig,
                        "Kubeconfig file (default: $KUBECONFIG, ~/.kube/config, or the pod's own "
                        "service account)");
    command->add_option("--context", o.context, "Context of the kubeconfig");
    command->add_option("--key", o.key,
                        "Column or expression that names a row's object (default: the column that "
                        "names most of those that are there)");
    command->add_option("--state", o.state,
                        "Column that says what a row's object should be (default: the only one "
                        "with few words, or state, status or phase)");
    command
        ->add_option("--live", o.live,
                     "Words of it whose row should have an object (default: those of which most "
                     "rows have one)")
        ->delimiter(',');
    command->add_option(
        "--dead", o.dead,
        "Word that a row gets whose object is gone (default: the rules only report)");
    command->add_option("--into", o.into, "Folder for the files (default: this one)");
    command->add_option("--service-account", o.account,
                        "Whose rights are written, as NAMESPACE/NAME (default trueup/trueup)");
    add_output(*command, o.format);
    add_examples(
        *command,
        "0 written, 1 a source did not answer, 2 something is missing or wrong; asks for what is "
        "missing if it runs on a terminal",
        {"trueup policy new workers --table public.workers --namespace jobs --selector role=worker",
         "trueup policy new workers --table public.workers --namespace jobs --selector "
         "role=worker --live ACTIVE,DRAINING --dead DEAD --into deploy/",
         "trueup policy new boxes --resource example.org/v1/boxes --namespace jobs --table "
         "public.boxes --key \"'box-' || id\""});
    return command;
}

CLI::App* add_policy_test(CLI::App& app, Options& options) {
    PolicyTestOptions& o = options.policy_test;
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
    add_output(*test, o.format);
    add_examples(
        *test,
        "0 all went as told, 1 a story went otherwise, a mutant was not noticed, or Ctrl-C, 2 the "
        "policy or a story cannot be read",
        {"trueup policy test policies/workers.yaml",
         "trueup policy test my-policy.yaml my-stories/ --filter orphan",
         "trueup policy test my-policy.yaml --mutants"});
    return test;
}

Enablings add_enabling(CLI::App& policy, Options& options) {
    EnableOptions& o = options.enable;
    CLI::App* enable = policy.add_subcommand(
        "enable", "Show what rules would do, ask, and let them act by themselves");
    CLI::App* disable = policy.add_subcommand(
        "disable", "Let rules act on approval only, until they are enabled again");
    for (CLI::App* command : {enable, disable}) {
        add_engine(*command, o.engine);
        add_output(*command, o.format);
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
    add_examples(
        *enable, kCodes,
        {"trueup policy enable graph-instances -c trueup.yaml",
         "trueup policy enable graph-instances orphaned_pod --dry-run -c trueup.yaml",
         "trueup policy enable graph-instances orphaned_pod --seen 1842 --yes -c trueup.yaml"});
    add_examples(*disable, kCodes,
                 {"trueup policy disable graph-instances orphaned_pod -c trueup.yaml "
                  "--comment 'ticket 42'"});
    return {{enable, run_policy_enable}, {disable, run_policy_disable}};
}

}  // namespace trueup::apps
