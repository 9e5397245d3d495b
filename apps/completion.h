// `trueup completion SHELL`: a script that completes commands and options, made of the command line
// itself, so that it never lacks one.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace trueup::apps {

/// The shells that `completion_script` knows: bash, zsh and fish.
const std::vector<std::string>& shells();

/// The script for one of `shells()`.
std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace trueup::apps
