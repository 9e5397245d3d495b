#include "apps/config/source_config.h"

#include "engine/base/check.h"
#include "engine/ports/private_file.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

namespace trueup::config {

Topic SourceConfig::topic() const {
    const KubernetesSource* watched = kubernetes();
    if (watched == nullptr) return Topic::kChangesRows;
    const bool pods = watched->resource.plural == "pods" && watched->resource.api_path == "/api/v1";
    return pods ? Topic::kChangesPods : Topic::kChangesResources;
}

Result<std::string> read_conninfo(const SourceConfig& source) {
    const PostgresSource* postgres = source.postgres();
    TRUEUP_CHECK(postgres != nullptr);
    return read_conninfo(*postgres, "sources." + source.name);
}

Result<std::string> read_conninfo(const DatabaseLogin& login, const std::string& key) {
    if (login.from == Conninfo::kText) return login.conninfo;
    const std::string place = "the connection of " + key;
    std::string text;
    if (login.from == Conninfo::kFile) {
        Result<std::string> read = ports::read_private_file(login.conninfo);
        if (!read) {
            return Error{read.error().next, read.error().code, place + ": " + read.error().what};
        }
        text = std::move(*read);
    } else if (const char* value = std::getenv(login.conninfo.c_str())) {
        text = value;
    }
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    text.resize(last == std::string::npos ? 0 : last + 1);
    if (!text.empty()) return text;
    return Error{
        Next::kStop, Code::kConfiguration,
        fmt::format("{} is empty, but should have {}; write \"host=... dbname=... user=... "
                    "password=...\" there",
                    login.from == Conninfo::kFile ? login.conninfo
                                                  : "the environment variable " + login.conninfo,
                    place)};
}

}  // namespace trueup::config
