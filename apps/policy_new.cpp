#include "apps/policy_new.h"

#include "apps/ask.h"
#include "apps/config/config.h"
#include "apps/config/words.h"
#include "apps/first_policy.h"
#include "apps/json_text.h"
#include "apps/noun.h"
#include "apps/progress.h"
#include "apps/rbac.h"
#include "apps/source_checks.h"
#include "apps/two_sides.h"
#include "apps/yaml_text.h"
#include "engine/base/suggest.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <utility>

namespace trueup::apps {

namespace {

namespace fs = std::filesystem;
namespace postgres = connectors::postgres;
using config::KubernetesSource;
using config::PostgresSource;
using config::SourceConfig;

/// For Ctrl-C while somebody is asked.
constexpr int kLookEvery = 100;  // milliseconds

/// A column with more of them says no state.
constexpr std::size_t kMostWords = 20;

Error wrong(std::string what) { return {Next::kStop, Code::kConfiguration, std::move(what)}; }

/// `3 pods`, `1 pod`.
std::string counted(std::uint64_t count, const std::string& plural) {
    return fmt::format("{} {}", count, count == 1 ? one_of(plural) : plural);
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

/// The file that kubectl would take; empty: there is none.
std::string usual_kubeconfig() {
    std::string named = environment("KUBECONFIG");
    if (!named.empty()) return named;
    named = environment("HOME") + "/.kube/config";
    std::error_code ignored;
    return fs::exists(named, ignored) ? named : std::string();
}

/// A path in a file of folder `into`.
std::string path_from(const std::string& path, const std::string& into) {
    std::error_code failed;
    const fs::path near = fs::proximate(path, into, failed);
    if (!failed && !near.empty() && *near.begin() != "..") return near.string();
    const fs::path whole = fs::absolute(path, failed);
    return failed ? path : whole.lexically_normal().string();
}

/// The command, step by step.
class NewPolicy {
  public:
    NewPolicy(PolicyNewOptions options, StopSignal& stop) : o_(std::move(options)), stop_(stop) {}

    int run() {
        for (const auto step :
             {&NewPolicy::read_options, &NewPolicy::look, &NewPolicy::choose, &NewPolicy::write}) {
            const Status done = (this->*step)();
            if (done) continue;
            take_back();
            fmt::print(stderr, "trueup: {}\n", done.error().what);
            return unanswered(done.error()) ? 1 : 2;
        }
        if (o_.format == OutputFormat::kJson) {
            print_json();
        } else {
            print_text();
        }
        return 0;
    }

  private:
    // ------------------------------------------------------------ asking
    /// What is not on the command line is asked on a terminal. False: nobody can be asked, or
    /// nobody answered.
    bool ask_for(std::string& value, const std::string& question,
                 const std::string& proposed = {}) {
        if (!value.empty()) return true;
        if (::isatty(STDIN_FILENO) == 0) return false;
        fmt::print(stderr, "{}{}: ", question, proposed.empty() ? "" : " [" + proposed + "]");
        pollfd input{STDIN_FILENO, POLLIN, 0};
        while (std::cin.rdbuf()->in_avail() <= 0 && ::poll(&input, 1, kLookEvery) == 0) {
            if (stop_.wait(Millis{0})) return false;
        }
        if (!std::getline(std::cin, value)) return false;
        if (value.empty()) value = proposed;
        return !value.empty();
    }

    // ------------------------------------------------------------ what was asked for
    Status read_options() {
        if (!config::is_name(o_.name) || !is_plain_yaml(o_.name) || o_.name == "trueup") {
            return wrong(
                fmt::format("the policy cannot be called '{}'; write a name of letters, "
                            "digits and '-', as in workers",
                            o_.name));
        }
        if (Status there = check_folder(); !there) return there;
        const auto resource = config::parse_resource(o_.resource);
        if (!resource) {
            return wrong(
                fmt::format("--resource '{}' is none; write pods, v1/services, or "
                            "group/version/plural as in apps/v1/deployments",
                            o_.resource));
        }
        if (!o_.all_namespaces && !ask_for(o_.name_space, "Namespace of the " + resource->plural)) {
            return wrong("which namespace? write --namespace NAME, or --all-namespaces");
        }
        if (o_.all_namespaces && !o_.dead.empty()) {
            return wrong(
                "--dead is of rules that act, and where a rule acts a source has one "
                "namespace; write --namespace NAME, or leave --dead out");
        }
        const bool pods = resource->plural == "pods" && resource->api_path == "/api/v1";
        if (pods && !ask_for(o_.selector, "Label selector of the pods, as role=worker")) {
            return wrong("which pods? write --selector LABEL=VALUE: no others are ever looked at");
        }
        if (!ask_for(o_.table, "Table with their rows, as public.workers")) {
            return wrong("which table? write --table SCHEMA.TABLE");
        }
        const auto table = config::parse_table(o_.table);
        if (!table) {
            return wrong(
                fmt::format("--table '{}' is none; write SCHEMA.TABLE, as in "
                            "public.workers",
                            o_.table));
        }
        account_ = parse_account(o_.account);
        if (!account_) {
            return wrong(
                fmt::format("--service-account '{}' is none; write NAMESPACE/NAME", o_.account));
        }
        object_ = one_of(resource->plural);
        sides_.emplace(objects_source(*resource), rows_source(*table));
        return Done{};
    }

    SourceConfig objects_source(const ports::Resource& resource) const {
        KubernetesSource cluster;
        cluster.kubeconfig = o_.kubeconfig.empty() ? usual_kubeconfig() : o_.kubeconfig;
        cluster.in_cluster = cluster.kubeconfig.empty();
        cluster.context = o_.context;
        cluster.resource = resource;
        cluster.resource.name_space = o_.name_space;
        cluster.selector = o_.selector;
        SourceConfig source;
        source.name = resource.plural;
        source.world = std::move(cluster);
        return source;
    }

    SourceConfig rows_source(const ports::Table& table) const {
        const bool file = !o_.conninfo_file.empty();
        PostgresSource rows;
        rows.from = file ? config::Conninfo::kFile : config::Conninfo::kEnvironment;
        rows.conninfo = file ? o_.conninfo_file : o_.conninfo_env;
        rows.table = table;
        SourceConfig source;
        source.name = "rows";
        source.world = std::move(rows);
        return source;
    }

    /// Nothing that is there is written over.
    Status check_folder() const {
        for (const std::string& name : {o_.name + ".yaml", o_.name, std::string("trueup.yaml"),
                                        o_.name + ".sql", o_.name + ".rbac.yaml"}) {
            const fs::path path = fs::path(o_.into) / name;
            std::error_code failed;
            if (fs::symlink_status(path, failed).type() == fs::file_type::not_found) continue;
            if (failed) return wrong(path.string() + ": " + failed.message());
            return wrong(path.string() +
                         " is there already; write --into another folder, or move "
                         "it away");
        }
        return Done{};
    }

    const KubernetesSource& objects() const { return *sides_->objects().kubernetes(); }
    const std::vector<std::string>& names() const { return sides_->names(); }
    const postgres::TableLook& table() const { return sides_->table(); }
    const std::string& plural() const { return objects().resource.plural; }
    std::string table_name() const {
        return postgres::table_text(sides_->rows().postgres()->table);
    }
    std::string where() const {
        return o_.name_space.empty() ? "any namespace" : "namespace " + o_.name_space;
    }

    // ------------------------------------------------------------ looking
    Status look() {
        if (objects().in_cluster && environment("KUBERNETES_SERVICE_HOST").empty()) {
            return wrong("which cluster? write --kubeconfig FILE");
        }
        if (o_.kubeconfig.empty() && objects().kubeconfig.find(':') != std::string::npos) {
            return wrong("KUBECONFIG names several files; write --kubeconfig FILE");
        }
        if (Status looked = sides_->look_at_objects(Progress(stop_)); !looked) return looked;
        if (names().empty() && o_.key.empty()) {
            return wrong(fmt::format(
                "no {} in {} matches '{}', so that nothing shows which column names them; correct "
                "the selector, or write --key COLUMN",
                object_, where(), o_.selector));
        }
        return sides_->look_at_table();
    }

    // ------------------------------------------------------------ choosing
    Status choose() {
        if (Status key = choose_key(); !key) return key;
        const bool given = !o_.state.empty();
        if (Status state = choose_state(); !state) return state;
        if (o_.state.empty()) return Done{};
        auto words = sides_->words(o_.state, *key_, kMostWords + 1);
        if (!words) return words.error();
        words_ = std::move(*words);
        return choose_words(given);
    }

    Status choose_key() {
        if (o_.key.empty()) {
            const auto most =
                std::max_element(table().columns.begin(), table().columns.end(),
                                 [](const auto& a, const auto& b) { return a.named < b.named; });
            if (most == table().columns.end() || most->named == 0) {
                return wrong(fmt::format(
                    "no column of {} has the name of any of the {}, as {}; write --key COLUMN, or "
                    "an expression as \"'worker-' || id\"",
                    o_.table, counted(names().size(), plural()), names().front()));
            }
            const bool plain =
                config::is_word(most->name) && postgres::Correlation::parse(most->name);
            o_.key = plain ? most->name : postgres::quote_identifier(most->name);
        }
        auto key = postgres::Correlation::parse(o_.key);
        if (!key) return wrong("--key: " + key.error().what);
        key_ = std::move(*key);
        const auto named = sides_->named_by(*key_);
        if (!named) return named.error();
        named_ = *named;
        if (named_ > 0 || names().empty() || table().rows == 0) return Done{};
        return wrong(
            fmt::format("by the key {} no row of {} names any of the {}, as {}; write "
                        "another --key",
                        o_.key, table_name(), counted(names().size(), plural()), names().front()));
    }

    /// The column of that name that may say a state; nullptr: there is none.
    const postgres::ColumnLook* column(const std::string& name) const {
        const auto& all = table().columns;
        const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) {
            return each.name == name && !each.uuid;
        });
        return found == all.end() ? nullptr : &*found;
    }

    /// The one that is called as states are, or else the only column with few words: of that
    /// nothing is ever written.
    Status choose_state() {
        const bool given = !o_.state.empty();
        if (given && column(o_.state) == nullptr) {
            return wrong(
                fmt::format("{} has no column {} of text or of an enumeration; write "
                            "another --state",
                            table_name(), o_.state));
        }
        if (given) return Done{};
        std::vector<std::string> few;
        for (const postgres::ColumnLook& each : table().columns) {
            const auto& keys = key_->columns();
            const bool is_key = std::find(keys.begin(), keys.end(), each.name) != keys.end();
            const bool repeats = !each.labels.empty() || each.distinct < table().rows;
            if (is_key || each.uuid || !repeats || each.distinct == 0 ||
                each.distinct > kMostWords || !config::is_word(each.name) || each.name == "hold") {
                continue;
            }
            few.push_back(each.name);
        }
        for (const char* usual : {"state", "status", "phase"}) {
            if (std::find(few.begin(), few.end(), usual) != few.end()) o_.state = usual;
            if (!o_.state.empty()) return Done{};
        }
        const bool says = !o_.dead.empty() || !o_.live.empty();
        if (says) {
            return wrong(few.empty() ? "which column has these words? write --state COLUMN"
                                     : fmt::format("which column has these words? write --state {}",
                                                   enumerate(few, "or")));
        }
        if (few.size() == 1) o_.state = few.front();
        columns_ = std::move(few);
        return Done{};
    }

    /// Does the column have that word, or may it come to have it?
    Status check_word(const std::string& word, bool given) const {
        const std::vector<std::string>& labels = column(o_.state)->labels;
        const bool label = std::find(labels.begin(), labels.end(), word) != labels.end();
        const bool said = std::any_of(words_.begin(), words_.end(),
                                      [&](const auto& each) { return each.word == word; });
        if (label || said || word.empty() || (labels.empty() && given)) return Done{};
        std::vector<std::string> known = labels;
        for (const auto& each : words_) {
            if (labels.empty()) known.push_back(each.word);
        }
        return wrong(fmt::format("no row of {} says '{}' in {}; {}{}", table_name(), word, o_.state,
                                 did_you_mean(word, known),
                                 labels.empty() ? fmt::format("; write --state {} if it is a word "
                                                              "that no row has yet",
                                                              o_.state)
                                                : ""));
    }

    Status choose_words(bool given) {
        if (words_.size() > kMostWords) {
            return wrong(
                fmt::format("column {} has more than {} words, so that it says no state; "
                            "write --state another column",
                            o_.state, kMostWords));
        }
        std::vector<std::string> guess;
        for (const postgres::WordLook& word : words_) {
            const bool most = word.named * 2 >= word.rows && word.named > 0;
            if (most && word.word != o_.dead) guess.push_back(word.word);
        }
        if (o_.live.empty()) ask_for_words(guess);
        const std::string proposed = fmt::format("{}", fmt::join(guess, ","));
        if (o_.live.empty() && !o_.dead.empty()) {
            return wrong(
                fmt::format("which words of {} are of rows that should have a {}? With "
                            "--dead they decide what is written; write --live {}",
                            o_.state, object_, guess.empty() ? "WORD,WORD" : proposed));
        }
        if (o_.live.empty()) o_.live = guess;
        if (o_.live.empty()) {
            return wrong(
                fmt::format("of no word of {} most rows have a {}, so that nothing shows "
                            "which of them live; write --live WORD,WORD",
                            o_.state, object_));
        }
        for (const std::string& word : o_.live) {
            if (Status known = check_word(word, given); !known) return known;
        }
        if (Status known = check_word(o_.dead, given); !known) return known;
        if (std::find(o_.live.begin(), o_.live.end(), o_.dead) == o_.live.end()) return Done{};
        return wrong(
            fmt::format("'{}' cannot be both live and dead; write another --dead", o_.dead));
    }

    /// What a terminal is shown of the words, and asked.
    void ask_for_words(const std::vector<std::string>& guess) {
        if (::isatty(STDIN_FILENO) == 0) return;
        fmt::print(stderr, "{}", words_text());
        std::string live;
        ask_for(live, fmt::format("Words of rows that should have a {}", object_),
                fmt::format("{}", fmt::join(guess, ",")));
        for (std::size_t start = 0; start < live.size();) {
            const std::size_t comma = std::min(live.find(',', start), live.size());
            o_.live.push_back(live.substr(start, comma - start));
            start = comma + 1;
        }
        ask_for(o_.dead,
                fmt::format("Word that a row gets whose {} is gone (empty: only report)", object_));
    }

    // ------------------------------------------------------------ writing
    FirstPolicy policy() const {
        FirstPolicy policy;
        policy.name = o_.name;
        policy.resource = o_.resource;
        policy.plural = plural();
        policy.name_space = o_.name_space;
        policy.selector = o_.selector;
        if (!objects().in_cluster) {
            policy.cluster = {{"kubeconfig", path_from(objects().kubeconfig, o_.into)}};
        }
        if (!o_.context.empty()) policy.cluster.emplace_back("context", o_.context);
        policy.database = {
            o_.conninfo_file.empty()
                ? FirstPolicy::Setting{"conninfo_env", o_.conninfo_env}
                : FirstPolicy::Setting{"conninfo_file", path_from(o_.conninfo_file, o_.into)}};
        policy.table = table_name();
        policy.key = o_.key;
        if (!o_.state.empty()) {
            policy.state = o_.state;
            policy.live = o_.live;
            policy.dead = o_.dead;
        }
        return policy;
    }

    Status write() {
        const auto files = first_files(policy());
        if (!files) return files.error();
        for (const auto& [name, text] : *files) {
            if (Status put = put_file(name, text); !put) return put;
        }
        const std::string path = (fs::path(o_.into) / "trueup.yaml").string();
        const auto config = config::load_config(path);
        if (!config) {
            return wrong("what was asked for cannot be configured:\n" + config.error().what);
        }
        std::vector<std::string> columns;
        if (!o_.state.empty() && !o_.dead.empty()) columns.push_back(o_.state);
        auto sql = sides_->preparation(*config, std::move(columns));
        if (!sql) return sql.error();
        sql_ = std::move(*sql);
        if (!sql_.empty()) {
            const std::string text = fmt::format("{}\n", fmt::join(sql_, "\n"));
            if (Status put = put_file(o_.name + ".sql", text); !put) return put;
        }
        rbac_ = rbac_of(*config, *account_);
        return put_file(o_.name + ".rbac.yaml", rbac_);
    }

    Status put_file(const std::string& name, const std::string& text) {
        const fs::path path = fs::path(o_.into) / name;
        std::error_code failed;
        fs::create_directories(path.parent_path(), failed);
        written_.push_back(path.lexically_normal().string());
        std::ofstream out(path);
        out << text;
        out.close();
        if (out) return Done{};
        return wrong("cannot write " + path.string());
    }

    void take_back() const {
        if (written_.empty()) return;
        std::error_code ignored;
        for (const std::string& path : written_) fs::remove(path, ignored);
        fs::remove(fs::path(o_.into) / o_.name, ignored);
    }

    // ------------------------------------------------------------ telling
    std::string rows_text() const {
        return table().rows > postgres::kRowsLooked
                   ? fmt::format("the first {} rows", postgres::kRowsLooked)
                   : counted(table().rows, "rows");
    }

    /// What a word means from now on.
    std::string meaning(const std::string& word) const {
        if (word == o_.dead) return "dead";
        const bool live = std::find(o_.live.begin(), o_.live.end(), word) != o_.live.end();
        return live ? "live" : o_.live.empty() ? "" : "unknown: nothing is done beside it";
    }

    /// A line for each word of the state.
    std::string words_text() const {
        std::string text;
        for (const postgres::WordLook& word : words_) {
            text += fmt::format("          {:<16} {:>10}, {} with a {}{}\n", plain(word.word),
                                counted(word.rows, "rows"), word.named, object_,
                                meaning(word.word).empty() ? "" : "    " + meaning(word.word));
        }
        return text;
    }

    void print_text() const {
        fmt::print("objects   {} in {} that match \"{}\"\n", counted(names().size(), plural()),
                   o_.name_space.empty() ? "all namespaces" : "namespace " + o_.name_space,
                   o_.selector);
        fmt::print("rows      {} of {}, read as role {}\n", rows_text(), table_name(),
                   table().role);
        fmt::print("key       {}: rows name {} of {} that have not ended\n", o_.key, named_,
                   counted(names().size(), plural()));
        if (o_.state.empty()) {
            fmt::print("state     none: {}\n",
                       columns_.empty()
                           ? "no column has few words; every row is taken to live"
                           : fmt::format("{} have few words; write --state for one of them",
                                         enumerate(columns_)));
        } else {
            fmt::print("state     {}\n", o_.state);
        }
        fmt::print("{}", words_text());
        if (!o_.state.empty() && o_.dead.empty()) {
            fmt::print(
                "          nothing is written or deleted: with --live WORDS --dead WORD a row "
                "whose {} is gone gets that word\n",
                object_);
        }
        for (const std::string& path : written_) fmt::print("written   {}\n", path);
        print_next();
    }

    void print_next() const {
        const std::string folder = fs::path(o_.into).lexically_normal().string();
        const auto at = [&](const std::string& name) {
            return (fs::path(folder) / name).lexically_normal().string();
        };
        fmt::print("\nAs administrators of the two:\n");
        if (!sql_.empty()) fmt::print("  psql -f {}\n", at(o_.name + ".sql"));
        fmt::print("  kubectl apply -f {}    # rights of the service account {}\n",
                   at(o_.name + ".rbac.yaml"), o_.account);
        fmt::print("Then, and every rule only observes:\n");
        for (const char* command : {"config check", "plan", "up"}) {
            fmt::print("  trueup {} -c {}\n", command, at("trueup.yaml"));
        }
    }

    void print_json() const {
        nlohmann::ordered_json words = nlohmann::ordered_json::array();
        for (const postgres::WordLook& word : words_) {
            words.push_back({{"word", word.word},
                             {"rows", word.rows},
                             {"named", word.named},
                             {"meaning", meaning(word.word)}});
        }
        const nlohmann::ordered_json json{
            {"kind", "policy_new"}, {"policy", o_.name},    {"objects", names().size()},
            {"rows", table().rows}, {"role", table().role}, {"key", o_.key},
            {"named", named_},      {"state", o_.state},    {"words", words},
            {"files", written_},    {"sql", sql_},          {"rbac", rbac_}};
        fmt::print("{}\n",
                   json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }

    PolicyNewOptions o_;
    StopSignal& stop_;
    std::optional<ServiceAccount> account_;
    std::optional<TwoSides> sides_;  ///< once the options are read
    std::string object_;             ///< the noun of one
    std::optional<postgres::Correlation> key_;
    std::uint64_t named_ = 0;           ///< rows whose key is an object's name
    std::vector<std::string> columns_;  ///< that may say the state
    std::vector<postgres::WordLook> words_;
    std::vector<std::string> written_;
    std::vector<std::string> sql_;
    std::string rbac_;
};

}  // namespace

int run_policy_new(const PolicyNewOptions& options, StopSignal& stop) {
    return NewPolicy(options, stop).run();
}

}  // namespace trueup::apps
