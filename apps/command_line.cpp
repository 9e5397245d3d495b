#include "apps/command_line.h"

#include "engine/base/suggest.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

namespace trueup::apps {

namespace {

/// The command that was named last: what follows is its own.
const CLI::App& innermost(const CLI::App& app) {
    const std::vector<CLI::App*> named = app.get_subcommands();
    return named.empty() ? app : innermost(*named.front());
}

/// `trueup findings list`
std::string path_of(const CLI::App& command) {
    const CLI::App* parent = command.get_parent();
    return parent == nullptr ? "trueup" : path_of(*parent) + " " + command.get_name();
}

std::string meant(const std::string& word, const std::vector<std::string>& known) {
    const std::string near = nearest(word, known);
    return near.empty() ? "" : fmt::format("did you mean '{}'? ", near);
}

}  // namespace

std::vector<std::string> commands_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::App* one : command.get_subcommands({})) names.push_back(one->get_name());
    return names;
}

std::vector<std::string> options_of(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

void add_output(CLI::App& command, OutputFormat& format) {
    const auto take = [&format](const std::string& word) {
        if (word != "text" && word != "json") {
            throw CLI::ValidationError("--output",
                                       fmt::format("is '{}'; write text or json", word));
        }
        format = word == "json" ? OutputFormat::kJson : OutputFormat::kText;
    };
    command
        .add_option_function<std::string>("-o,--output", take,
                                          "Output format: text (default), or json")
        ->type_name("FORMAT");
}

CLI::Option* add_config(CLI::App& command, std::string& path, const std::string& help) {
    return command.add_option("-c,--config", path, help)
        ->envname("TRUEUP_CONFIG")
        ->type_name("FILE");
}

void add_examples(CLI::App& command, const std::string& exit_codes,
                  const std::vector<std::string>& examples) {
    std::string text = command.get_footer();
    if (!text.empty()) text += "\n\n";
    if (!exit_codes.empty()) text += "Exit codes: " + exit_codes + "\n\n";
    text += "Examples:";
    for (const std::string& example : examples) text += "\n  " + example;
    command.footer(text);
}

std::string refusal_of(const CLI::App& app, const CLI::ParseError& error) {
    const CLI::App& command = innermost(app);
    const std::string path = path_of(command);
    const auto is_option = [](const std::string& one) { return one.substr(0, 1) == "-"; };
    const std::vector<std::string> rest = app.remaining(true);
    const auto word = std::find_if_not(rest.begin(), rest.end(), is_option);
    const auto option = std::find_if(rest.begin(), rest.end(), is_option);
    if (const std::vector<std::string> known = commands_of(command); !known.empty()) {
        if (word == rest.end()) return "";
        return fmt::format("unknown command '{}'; {}`{} --help` lists the commands", *word,
                           meant(*word, known), path);
    }
    if (option != rest.end()) {
        return fmt::format("unknown option '{}'; {}`{} --help` lists the options", *option,
                           meant(*option, options_of(command)), path);
    }
    if (word != rest.end()) {
        return fmt::format("unexpected argument '{}'; `{} --help` shows the usage", *word, path);
    }
    return fmt::format("{}; `{} --help` shows the usage", error.what(), path);
}

int answer_refused(const CLI::App& app, const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help or version, on stdout
    const std::string sentence = refusal_of(app, error);
    const CLI::App& command = innermost(app);
    const CLI::App* parent = command.get_parent();
    const std::string text = sentence.empty()
                                 ? command.help(parent == nullptr ? "" : path_of(*parent))
                                 : "trueup: " + sentence + "\n";
    std::fputs(text.c_str(), stderr);
    return 2;
}

}  // namespace trueup::apps
