#include "apps/completion.h"

#include "apps/command_line.h"

#include <fmt/format.h>

#include <utility>

namespace trueup::apps {

namespace {

struct Command {
    std::string path;                ///< ` findings list`; empty: the program itself
    std::vector<std::string> words;  ///< that may stand there
};

void collect(const CLI::App& app, const std::string& path, std::vector<Command>& all) {
    Command command{path, commands_of(app)};
    for (std::string& option : options_of(app)) command.words.push_back(std::move(option));
    all.push_back(std::move(command));
    for (const CLI::App* child : app.get_subcommands({})) {
        collect(*child, path + " " + child->get_name(), all);
    }
}

std::string joined(const std::vector<std::string>& words) {
    return fmt::format("{}", fmt::join(words, " "));
}

/// zsh runs it, too, by its bashcompinit.
std::string bash_script(const std::vector<Command>& commands) {
    std::string steps;
    std::string words;
    for (const Command& command : commands) {
        if (!command.path.empty()) {
            steps += fmt::format("      '{}') path=$next ;;\n", command.path);
        }
        words += fmt::format("    '{}') words='{}' ;;\n", command.path, joined(command.words));
    }
    return fmt::format(
        "_trueup() {{\n"
        "  local path='' words='' next i\n"
        "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "    next=\"$path ${{COMP_WORDS[i]}}\"\n"
        "    case $next in\n{}    esac\n"
        "  done\n"
        "  case $path in\n{}  esac\n"
        "  COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n"
        "}}\n"
        "complete -o default -F _trueup trueup\n",
        steps, words);
}

std::string fish_script(const CLI::App& app, const std::string& path) {
    std::string script;
    std::string here = "__fish_use_subcommand";
    if (!path.empty()) {
        here = "__fish_seen_subcommand_from" + path.substr(path.rfind(' '));
        const std::vector<std::string> deeper = commands_of(app);
        if (!deeper.empty()) here += "; and not __fish_seen_subcommand_from " + joined(deeper);
    }
    for (const CLI::App* child : app.get_subcommands({})) {
        script += fmt::format("complete -c trueup -f -n '{}' -a {}\n", here, child->get_name());
        script += fish_script(*child, path + " " + child->get_name());
    }
    for (const std::string& option : options_of(app)) {
        script += fmt::format("complete -c trueup -n '{}' -l {}\n", here, option.substr(2));
    }
    return script;
}

}  // namespace

const std::vector<std::string>& shells() {
    static const std::vector<std::string> kShells{"bash", "zsh", "fish"};
    return kShells;
}

std::string completion_script(const CLI::App& app, const std::string& shell) {
    if (shell == "fish") return fish_script(app, "");
    std::vector<Command> commands;
    collect(app, "", commands);
    const std::string script = bash_script(commands);
    return shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" + script : script;
}

}  // namespace trueup::apps
