// How servers are reached and as whom: what sources and executors have in common.
#include "apps/config/reading.h"
#include "apps/config/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace trueup::config {

void read_access(Section& section, const std::string& folder, ClusterLogin& login) {
    login.in_cluster = section.flag("in_cluster", false);
    login.kubeconfig = read_path(section, "kubeconfig", {}, folder);
    login.context = section.text("context");
    if (!section.present()) return;
    if (!section.has("kubeconfig") && !login.in_cluster) {
        section.require("kubeconfig",
                        "kubeconfig: FILE, or in_cluster: true if Trueup runs in a pod");
    }
    if (section.has("kubeconfig") && login.kubeconfig.empty()) {
        section.problem("kubeconfig", "is empty; write the file's path");
    }
    if (section.has("kubeconfig") && login.in_cluster) {
        section.problem("in_cluster", "and kubeconfig exclude each other; leave one out");
    }
    if (section.has("context") && login.in_cluster) {
        section.problem("context", "belongs to a kubeconfig; leave it out with in_cluster: true");
    }
}

void read_login(Section& section, const std::string& folder, DatabaseLogin& login) {
    const std::string text = section.text("conninfo");
    const std::string file = read_path(section, "conninfo_file", {}, folder);
    const std::string variable = section.text("conninfo_env");
    if (!section.present()) return;
    std::vector<std::string> given;
    for (const char* key : {"conninfo", "conninfo_file", "conninfo_env"}) {
        if (section.has(key)) given.emplace_back(key);
    }
    if (given.empty()) {
        section.require("conninfo_env",
                        "conninfo_env: VARIABLE, conninfo_file: FILE or conninfo: "
                        "\"host=... dbname=...\"");
        return;
    }
    if (given.size() > 1) {
        section.problem(given[1],
                        fmt::format("and {} exclude each other; leave one out", given[0]));
    }
    login.from = given[0] == "conninfo"        ? Conninfo::kText
                 : given[0] == "conninfo_file" ? Conninfo::kFile
                                               : Conninfo::kEnvironment;
    login.conninfo = text + file + variable;
    if (given.size() == 1 && is_blank(login.conninfo)) {
        section.problem(given[0], "is empty; write where the database is");
    }
    const bool plain = std::all_of(variable.begin(), variable.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
               c == '_';
    });
    if (!plain) {
        section.problem("conninfo_env",
                        "is not the name of an environment variable; write one of letters, digits "
                        "and '_', as in TRUEUP_DATABASE");
    }
}

}  // namespace trueup::config
