#include "connectors/kubernetes/kubeconfig.h"

#include "connectors/kubernetes/base64.h"
#include "connectors/kubernetes/yaml.h"
#include "engine/ports/private_file.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

namespace trueup::connectors {

namespace {

namespace fs = std::filesystem;

/// The entry of that name in a kubeconfig's list: `clusters` has {name, cluster}, and so on.
Result<YAML::Node> entry(const YAML::Node& config, const char* list, const char* part,
                         const std::string& name) {
    const YAML::Node entries = config[list];
    if (entries && entries.IsSequence()) {
        for (const YAML::Node& candidate : entries) {
            if (text_of(candidate, "name") != name) continue;
            const YAML::Node body = candidate[part];
            if (body && body.IsMap()) return body;
        }
    }
    return refusal("the kubeconfig has no " + std::string(part) + " '" + name + "'");
}

/// `<field>-data` in base64, else the file named by `<field>`; empty when there is neither.
Result<std::string> material(const YAML::Node& body, const std::string& field, const fs::path& at,
                             bool is_secret) {
    const std::string data = text_of(body, (field + "-data").c_str());
    if (!data.empty()) {
        std::optional<std::string> bytes = decode_base64(data);
        if (!bytes) return refusal("the kubeconfig's " + field + "-data is not base64");
        return *std::move(bytes);
    }
    const std::string path = text_of(body, field.c_str());
    if (path.empty()) return std::string();
    const std::string file = (at / path).string();
    return is_secret ? ports::read_private_file(file) : read_text_file(file);
}

/// Does the file itself hold what must not be read by others? One that only names files, or an exec
/// plugin that is given no variables, is no secret.
bool holds_secrets(const YAML::Node& config) {
    const YAML::Node users = config["users"];
    if (!users || !users.IsSequence()) return false;
    for (const YAML::Node& each : users) {
        const YAML::Node user = each["user"];
        if (!user || !user.IsMap()) continue;
        if (user["token"] || user["client-key-data"] || user["password"]) return true;
        const YAML::Node exec = user["exec"];
        if (!exec || !exec.IsMap()) continue;
        const YAML::Node variables = exec["env"];
        if (variables && variables.size() > 0) return true;
    }
    return false;
}

Status take_cluster(const YAML::Node& cluster, const fs::path& at, bool allow_insecure,
                    ClusterAccess& access) {
    access.server = text_of(cluster, "server");
    while (access.server.ends_with('/')) access.server.pop_back();
    if (access.server.empty()) return refusal("the kubeconfig's cluster has no server");
    access.tls_name = text_of(cluster, "tls-server-name");
    access.verify = text_of(cluster, "insecure-skip-tls-verify") != "true";
    if (!access.verify && !allow_insecure) {
        return refusal(
            "the kubeconfig has insecure-skip-tls-verify, which is refused: add a "
            "certificate-authority");
    }
    if (!text_of(cluster, "proxy-url").empty()) {
        return refusal("the kubeconfig's proxy-url is not supported");
    }
    Result<std::string> ca = material(cluster, "certificate-authority", at, false);
    if (!ca) return ca.error();
    access.ca = std::move(*ca);
    return Done{};
}

Status take_user(const YAML::Node& user, const fs::path& at, ClusterAccess& access) {
    if (user["auth-provider"]) {
        return refusal(
            "the kubeconfig's user gets its credentials by 'auth-provider', which is not "
            "supported: use exec, a client certificate, a token or a tokenFile");
    }
    if (!text_of(user, "username").empty()) {
        return refusal("the kubeconfig's user has a password, which is not supported");
    }
    Result<std::string> cert = material(user, "client-certificate", at, false);
    if (!cert) return cert.error();
    Result<std::string> key = material(user, "client-key", at, true);
    if (!key) return key.error();
    if (cert->empty() != key->empty()) {
        return refusal(
            "the kubeconfig's user has a client certificate without its key, or a key "
            "without its certificate");
    }
    access.cert = std::move(*cert);
    access.key = std::move(*key);
    access.token = text_of(user, "token");
    const std::string token_file = text_of(user, "tokenFile");
    if (!token_file.empty()) access.token_file = (at / token_file).string();
    return Done{};
}

Result<ClusterAccess> take_config(const YAML::Node& config, const fs::path& at,
                                  const std::string& name, bool allow_insecure) {
    if (name.empty()) return refusal("the kubeconfig has no current-context, and none was given");
    const Result<YAML::Node> context = entry(config, "contexts", "context", name);
    if (!context) return context.error();
    const Result<YAML::Node> cluster =
        entry(config, "clusters", "cluster", text_of(*context, "cluster"));
    if (!cluster) return cluster.error();
    const Result<YAML::Node> user = entry(config, "users", "user", text_of(*context, "user"));
    if (!user) return user.error();
    ClusterAccess access;
    access.name_space = text_of(*context, "namespace");
    if (Status taken = take_cluster(*cluster, at, allow_insecure, access); !taken) {
        return taken.error();
    }
    if (Status taken = take_user(*user, at, access); !taken) return taken.error();
    if (const YAML::Node exec = (*user)["exec"]) {
        if (!access.token.empty() || !access.token_file.empty() || !access.cert.empty()) {
            return refusal(
                "the kubeconfig's user has exec beside other credentials: leave one out");
        }
        Result<ExecConfig> plugin = read_exec(exec, *cluster, access, at);
        if (!plugin) return plugin.error();
        access.exec = std::move(*plugin);
    }
    return access;
}

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
    Result<std::string> text = ports::read_regular_file(path);
    if (text && text->empty()) return refusal("cannot read " + path + ": it is empty");
    return text;
}

Result<ClusterAccess> read_kubeconfig(const std::string& path, const std::string& context,
                                      bool allow_insecure) {
    const Result<ports::OwnFile> file = ports::read_own_file(path);
    if (!file) return file.error();
    const auto failed = [&path](const std::string& why) { return refusal(path + ": " + why); };
    try {
        const YAML::Node config = YAML::Load(file->text);
        if (!config.IsMap()) return failed("the kubeconfig is not a YAML map");
        if (!file->shown.empty() && holds_secrets(config)) return refusal(file->shown);
        const std::string name = context.empty() ? text_of(config, "current-context") : context;
        Result<ClusterAccess> access =
            take_config(config, fs::path(path).parent_path(), name, allow_insecure);
        if (!access) return failed(access.error().what);
        access->again = [=] { return read_kubeconfig(path, name, allow_insecure); };
        return access;
    } catch (const YAML::Exception& flaw) {
        // Only where, not what: the text may hold secrets.
        return failed("not YAML at line " + std::to_string(flaw.mark.line + 1));
    }
}

Result<ClusterAccess> in_cluster_access(const std::string& folder) {
    const std::string host = from_environment("KUBERNETES_SERVICE_HOST");
    const std::string port = from_environment("KUBERNETES_SERVICE_PORT");
    if (host.empty() || port.empty()) {
        return refusal(
            "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set; write "
            "kubeconfig: FILE");
    }
    ClusterAccess access;
    const bool v6 = host.find(':') != std::string::npos;
    access.server = "https://" + (v6 ? "[" + host + "]" : host) + ":" + port;
    Result<std::string> ca = read_text_file(folder + "/ca.crt");
    if (!ca) return ca.error();
    access.ca = std::move(*ca);
    access.token_file = folder + "/token";
    const Result<std::string> token = read_text_file(access.token_file);
    if (!token) return token.error();
    if (const Result<std::string> own = read_text_file(folder + "/namespace")) {
        access.name_space = *own;
    }
    access.again = [folder] { return in_cluster_access(folder); };
    return access;
}

}  // namespace trueup::connectors
