// What every command of `trueup` does alike: how a word that it does not know is answered, options
// that many have, and what the help says behind them.
#pragma once

#include "apps/event_printer.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace trueup::apps {

/// `-o`, `--output`: text or json.
void add_output(CLI::App& command, OutputFormat& format);
/// `-c`, `--config`, else the environment variable TRUEUP_CONFIG.
CLI::Option* add_config(CLI::App& command, std::string& path, const std::string& help);
/// Behind the options in a command's help: its exit codes, if they are its own, and examples.
void add_examples(CLI::App& command, const std::string& exit_codes,
                  const std::vector<std::string>& examples);

/// The names of the commands below this one, and of its own long options, as `--limit`.
std::vector<std::string> commands_of(const CLI::App& command);
std::vector<std::string> options_of(const CLI::App& command);

/// What a command line that CLI11 refused is answered with: help that was asked for, or a sentence
/// with what was meant. Returns the exit code: 0 after help and version, else 2.
int answer_refused(const CLI::App& app, const CLI::ParseError& error);
/// The sentence of it, without `trueup: `; empty where the help of the command says more.
std::string refusal_of(const CLI::App& app, const CLI::ParseError& error);

}  // namespace trueup::apps
