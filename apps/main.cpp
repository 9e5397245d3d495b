// The `trueup` binary: parses the command line and calls one file per subcommand.
#include "apps/demo.h"
#include "apps/up.h"
#include "apps/version.h"

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <map>
#include <string>

namespace {

using trueup::apps::FeedFormat;

const std::map<std::string, FeedFormat> kFormats{{"text", FeedFormat::kText},
                                                 {"json", FeedFormat::kJson}};

struct Options {
    trueup::apps::DemoOptions demo;
    trueup::apps::UpOptions up;
    trueup::apps::CheckOptions check;
    bool no_colours = false;
    std::string log_level = "warn";
};

void add_format(CLI::App& command, FeedFormat& format) {
    command.add_option("-o,--output", format, "text (default) or json, one object a line")
        ->transform(CLI::CheckedTransformer(kFormats, CLI::ignore_case));
}

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
    add_format(*demo, options.demo.format);
    return demo;
}

CLI::App* add_up(CLI::App& app, Options& options) {
    CLI::App* up = app.add_subcommand(
        "up", "Run connectors, engine and executors in one process, as the configuration says");
    up->add_option("-c,--config", options.up.config, "The configuration file")->required();
    up->add_option("--seconds", options.up.seconds, "End after this many seconds (0: Ctrl-C)");
    up->add_option("--pause-file", options.up.pause_file,
                   "While this file exists, executors check but hold every write");
    up->add_flag("--no-colours", options.no_colours, "Plain text");
    add_format(*up, options.up.format);
    return up;
}

CLI::App* add_check(CLI::App& app, Options& options) {
    CLI::App* config = app.add_subcommand("config", "Look at a configuration");
    config->require_subcommand(1);
    CLI::App* check = config->add_subcommand(
        "check", "Say what is wrong with a configuration, and whether its sources answer");
    check->add_option("-c,--config", options.check.config, "The configuration file")->required();
    check->add_flag("--offline", options.check.offline, "Do not ask the sources");
    add_format(*check, options.check.format);
    return check;
}

int run(int argc, char** argv) {
    trueup::apps::StopSignal stop;
    CLI::App app{"Trueup: finds where what is said and what is there disagree, and puts it right."};
    app.set_version_flag("--version", std::string("trueup ") + trueup::apps::kVersion);
    app.require_subcommand(1);
    Options options;
    app.add_option("--log-level", options.log_level, "debug, info, warn (default) or error")
        ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
    const CLI::App* demo = add_demo(app, options);
    const CLI::App* up = add_up(app, options);
    const CLI::App* check = add_check(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    spdlog::set_default_logger(spdlog::stderr_color_mt("trueup"));
    spdlog::set_level(spdlog::level::from_str(options.log_level));
    const bool colours = !options.no_colours && isatty(STDOUT_FILENO) != 0;
    options.demo.colours = options.up.colours = colours;
    if (demo->parsed()) return trueup::apps::run_demo(options.demo, stop);
    if (up->parsed()) return trueup::apps::run_up(options.up, stop);
    if (check->parsed()) return trueup::apps::run_config_check(options.check);
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
