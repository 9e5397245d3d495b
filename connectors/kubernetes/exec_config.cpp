#include "connectors/kubernetes/exec_config.h"

#include "connectors/kubernetes/base64.h"
#include "connectors/kubernetes/cluster_access.h"
#include "connectors/kubernetes/paths.h"
#include "connectors/kubernetes/yaml.h"
#include "engine/base/json_string.h"

#include <simdjson.h>

#include <string_view>

namespace trueup::connectors {

namespace {

constexpr std::string_view kGroup = "client.authentication.k8s.io/";
/// The name under which a kubeconfig's cluster keeps what is meant for its plugin.
constexpr std::string_view kExtension = "client.authentication.k8s.io/exec";

/// Plain scalars that JSON knows as something else than a string.
bool is_json_literal(const std::string& text) {
    simdjson::dom::parser parser;
    simdjson::dom::element found;
    if (parser.parse(text).get(found) != simdjson::SUCCESS) return false;
    return found.is_number() || found.is_bool() || found.is_null();
}

std::string json_of(const YAML::Node& node) {
    if (!node || node.IsNull()) return "null";
    if (node.IsScalar()) {
        const auto text = node.as<std::string>();
        const bool quoted = node.Tag() == "!";
        return !quoted && is_json_literal(text) ? text : json_string(text);
    }
    std::string json;
    if (node.IsSequence()) {
        for (const YAML::Node& item : node) json += (json.empty() ? "" : ",") + json_of(item);
        return "[" + json + "]";
    }
    for (const auto& member : node) {
        json += json.empty() ? "" : ",";
        json += json_string(member.first.as<std::string>()) + ":" + json_of(member.second);
    }
    return "{" + json + "}";
}

std::string extension_of(const YAML::Node& cluster) {
    const YAML::Node extensions = cluster["extensions"];
    if (!extensions || !extensions.IsSequence()) return "";
    for (const YAML::Node& one : extensions) {
        if (text_of(one, "name") == kExtension) return json_of(one["extension"]);
    }
    return "";
}

/// spec.cluster of the ExecCredential that the plugin is given.
std::string cluster_info(const YAML::Node& cluster, const ClusterAccess& access) {
    std::string json = "{\"server\":" + json_string(access.server);
    if (!access.verify) json += ",\"insecure-skip-tls-verify\":true";
    if (!access.ca.empty()) {
        json += ",\"certificate-authority-data\":" + json_string(encode_base64(access.ca));
    }
    if (const std::string config = extension_of(cluster); !config.empty()) {
        json += ",\"config\":" + config;
    }
    return json + "}";
}

Status take_words(const YAML::Node& exec, ExecConfig& config) {
    if (const YAML::Node args = exec["args"]; args && args.IsSequence()) {
        for (const YAML::Node& arg : args) config.args.push_back(arg.as<std::string>());
    }
    const YAML::Node env = exec["env"];
    if (!env || !env.IsSequence()) return Done{};
    for (const YAML::Node& one : env) {
        const std::string name = text_of(one, "name");
        if (name.empty() || name.find('=') != std::string::npos) {
            return refusal("the kubeconfig's exec has an env without a usable name");
        }
        config.env[name] = text_of(one, "value");
    }
    return Done{};
}

}  // namespace

Result<ExecConfig> read_exec(const YAML::Node& exec, const YAML::Node& cluster,
                             const ClusterAccess& access, const std::filesystem::path& at) {
    ExecConfig config;
    config.command = text_of(exec, "command");
    if (config.command.empty()) return refusal("the kubeconfig's exec has no command");
    const std::string named = "the kubeconfig's exec command '" + config.command + "' ";
    config.api_version = text_of(exec, "apiVersion");
    if (config.api_version != std::string(kGroup) + "v1" &&
        config.api_version != std::string(kGroup) + "v1beta1") {
        return refusal(named + "speaks '" + config.api_version +
                       "', which is not supported: write apiVersion: " + std::string(kGroup) +
                       "v1 or v1beta1");
    }
    if (text_of(exec, "interactiveMode") == "Always") {
        return refusal(named +
                       "needs a terminal (interactiveMode: Always), and there is none: use Never "
                       "or IfAvailable, or a client certificate, a token or a tokenFile");
    }
    const bool has_folder = config.command.find('/') != std::string::npos;
    config.program = has_folder ? (at / config.command).string() : config.command;
    config.install_hint = text_of(exec, "installHint");
    if (Status taken = take_words(exec, config); !taken) return taken.error();
    std::string spec = "\"interactive\":false";
    if (text_of(exec, "provideClusterInfo") == "true") {
        spec += ",\"cluster\":" + cluster_info(cluster, access);
    }
    config.env["KUBERNETES_EXEC_INFO"] =
        "{\"kind\":\"ExecCredential\",\"apiVersion\":" + json_string(config.api_version) +
        ",\"spec\":{" + spec + "}}";
    return config;
}

}  // namespace trueup::connectors
