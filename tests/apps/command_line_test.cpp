// Proves apps/command_line.h: a command line that is wrong is answered with what was meant.
#include "apps/command_line.h"

#include "apps/completion.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace trueup::apps {
namespace {

/// Two commands, one with commands of its own.
struct Line {
    Line() {
        app.require_subcommand(1);
        CLI::App* findings = app.add_subcommand("findings", "Look at findings");
        findings->require_subcommand(1);
        list = findings->add_subcommand("list", "Show what is open");
        list->add_option("--limit", limit, "Maximum number of results");
        add_output(*list, format);
        add_config(*list, config, "The configuration file");
        app.add_subcommand("demo", "Run a small world");
    }
    /// What the line is answered with; "(taken)": it was.
    std::string said(const std::string& line) {
        try {
            app.parse(line);
            return "(taken)";
        } catch (const CLI::ParseError& error) {
            return refusal_of(app, error);
        }
    }

    CLI::App app{"A program"};
    CLI::App* list = nullptr;
    int limit = 0;
    OutputFormat format = OutputFormat::kText;
    std::string config;
};

std::string said(const std::string& line) { return Line().said(line); }

// `trueup fndings list` was answered with `A subcommand is required`.
TEST(CommandLine, AnUnknownCommandIsNamedWithWhatWasMeant) {
    EXPECT_EQ(said("fndings list"),
              "unknown command 'fndings'; did you mean 'findings'? `trueup --help` lists the "
              "commands");
    EXPECT_EQ(said("findings lst"),
              "unknown command 'lst'; did you mean 'list'? `trueup findings --help` lists the "
              "commands");
    EXPECT_EQ(said("version"), "unknown command 'version'; `trueup --help` lists the commands");
}

TEST(CommandLine, WithoutACommandTheHelpIsShown) {
    EXPECT_EQ(said(""), "");
    EXPECT_EQ(said("findings"), "");
}

TEST(CommandLine, AnUnknownOptionIsNamedWithWhatWasMeant) {
    EXPECT_EQ(said("findings list --limt 3"),
              "unknown option '--limt'; did you mean '--limit'? `trueup findings list --help` "
              "lists the options");
    EXPECT_EQ(said("findings list again"),
              "unexpected argument 'again'; `trueup findings list --help` shows the usage");
}

// The answer to `-o yaml` was `Check yaml value in {json->,text-> } OR {, } FAILED`.
TEST(CommandLine, AFormatIsTextOrJson) {
    EXPECT_NE(said("findings list -o yaml").find("is 'yaml'; write text or json"),
              std::string::npos);
    Line line;
    EXPECT_EQ(line.said("findings list -o json"), "(taken)");
    EXPECT_EQ(line.format, OutputFormat::kJson);
    EXPECT_EQ(Line().list->help().find("ENUM"), std::string::npos);
}

TEST(CommandLine, TheConfigurationMayBeNamedByTheEnvironment) {
    ASSERT_EQ(::setenv("TRUEUP_CONFIG", "/etc/trueup.yaml", 1), 0);
    Line line;
    EXPECT_EQ(line.said("findings list"), "(taken)");
    EXPECT_EQ(line.config, "/etc/trueup.yaml");
    Line other;
    EXPECT_EQ(other.said("findings list -c b.yaml"), "(taken)");
    EXPECT_EQ(other.config, "b.yaml");
    ::unsetenv("TRUEUP_CONFIG");
}

TEST(CommandLine, HelpEndsWithExitCodesAndExamples) {
    Line line;
    add_examples(*line.list, "0 all is well",
                 {"trueup findings list", "trueup findings list -o json"});
    const std::string help = line.list->help();
    EXPECT_NE(help.find("Exit codes: 0 all is well\n\nExamples:\n  trueup findings list\n"),
              std::string::npos)
        << help;
}

/// What bash offers for the last word of the line.
std::string offered(const std::string& line) {
    const Line made;
    const std::string script = completion_script(made.app, "bash") + "COMP_WORDS=(" + line +
                               "\n); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _trueup; "
                               "echo \"${COMPREPLY[@]}\"";
    const testing::TempDir dir;
    std::ofstream(dir / "script") << script;
    FILE* bash = popen(("bash " + (dir / "script")).c_str(), "r");
    std::string text;
    for (int c = 0; (c = std::fgetc(bash)) != EOF;) text += static_cast<char>(c);
    EXPECT_EQ(pclose(bash), 0) << script;
    return text;
}

TEST(Completion, BashOffersTheCommandsAndOptionsThatMayStandThere) {
    EXPECT_EQ(offered("trueup f"), "findings\n");
    EXPECT_EQ(offered("trueup findings l"), "list\n");
    EXPECT_EQ(offered("trueup findings list --li"), "--limit\n");
    EXPECT_EQ(offered("trueup demo l"), "\n");
}

TEST(Completion, EveryShellHasEveryCommand) {
    const Line made;
    for (const std::string& shell : shells()) {
        const std::string script = completion_script(made.app, shell);
        for (const char* word : {"findings", "list", "demo", "limit"}) {
            EXPECT_NE(script.find(word), std::string::npos) << shell << ' ' << word;
        }
    }
}

}  // namespace
}  // namespace trueup::apps
