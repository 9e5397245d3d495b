#include "apps/client.h"

#include "apps/config/config.h"
#include "connectors/kubernetes/paths.h"

#include <curl/curl.h>
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

namespace trueup::apps {

namespace {

using Json = nlohmann::ordered_json;

Error wrong(std::string sentence, Code code = Code::kInvalid) {
    return {Next::kStop, code, std::move(sentence)};
}

/// The `number`th line, from 1; empty: there is none.
std::string line_of(const std::string& path, int number) {
    std::ifstream file(path);
    std::string line;
    for (; number > 0; --number) {
        line.clear();
        std::getline(file, line);
    }
    return line;
}

/// The secret of the first token in the state folder: whoever may read it is an operator.
std::string local_token(const std::string& keys) {
    std::ifstream file(keys + "/tokens");
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line.front() == '#') continue;
        std::istringstream words(line);
        std::string name;
        std::string role;
        std::string token;
        words >> name >> role >> token;
        return token;
    }
    return {};
}

using Reply = EngineClient::Reply;

struct CurlFree {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

std::size_t keep(char* data, std::size_t size, std::size_t count, void* body) {
    static_cast<std::string*>(body)->append(data, size * count);
    return size * count;
}

using Address = EngineClient::Address;

using Headers = std::unique_ptr<curl_slist, CurlFree>;

/// Nullptr: there was no memory for them.
Headers headers_of(const Address& peer) {
    Headers headers;
    for (const std::string& line :
         {"Authorization: Bearer " + peer.token, std::string("Content-Type: application/json"),
          std::string("Expect:")}) {
        curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
        if (longer == nullptr) return nullptr;
        static_cast<void>(headers.release());
        headers.reset(longer);
    }
    return headers;
}

/// Where it is, and how it proves who it is.
void set_peer(CURL* curl, const Address& peer) {
    if (!peer.socket.empty()) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, peer.socket.c_str());
    }
    if (!peer.ca_file.empty()) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, peer.ca_file.c_str());
        curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);
    }
    if (peer.local) curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
}

/// One exchange; the body is sent where there is one. The error says what did not happen.
Result<Reply> exchange(const Address& peer, const std::string& path, const std::string* body) {
    static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
    const std::unique_ptr<CURL, CurlFree> handle(kReady == CURLE_OK ? curl_easy_init() : nullptr);
    if (!handle) return wrong("libcurl cannot start", Code::kInternal);
    CURL* curl = handle.get();
    Reply reply;
    const Headers headers = headers_of(peer);
    if (!headers) return wrong("out of memory", Code::kExhausted);
    set_peer(curl, peer);
    curl_easy_setopt(curl, CURLOPT_URL, (peer.url + path).c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");  // a token is for the engine only
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 5L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply.body);
    if (body != nullptr) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body->size()));
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->c_str());
    }
    const CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) {
        return wrong(
            fmt::format("{} does not answer ({}); is `trueup up` running?",
                        peer.socket.empty() ? peer.url : peer.socket, curl_easy_strerror(code)),
            Code::kUnavailable);
    }
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
    return reply;
}

/// Of the engine whose state is in that folder of this machine.
Result<Address> local_address(const std::string& state_dir, const std::string& keys) {
    std::error_code ignored;
    const bool socket = std::filesystem::is_socket(socket_of(state_dir), ignored);
    const std::string address = line_of(state_dir + "/http.addr", 1);
    if (!socket && address.empty()) {
        return wrong("no engine is running in " + state_dir +
                         ", as far as this account can see; start `trueup up`, or use --url",
                     Code::kUnavailable);
    }
    const std::string token = local_token(keys);
    if (token.empty()) {
        return wrong(keys +
                         "/tokens cannot be read; run this as the engine's user, or use --url and "
                         "--token-file",
                     Code::kDenied);
    }
    if (socket) return Address{"http://localhost", socket_of(state_dir), token, {}, false};
    if (address.find("://") == std::string::npos) {
        return Address{"http://" + address, {}, token, {}, false};
    }
    // With TLS the second line is the certificate that the engine shows.
    return Address{address, {}, token, line_of(state_dir + "/http.addr", 2), true};
}

}  // namespace

Result<EngineClient> EngineClient::find(const EngineAddress& where) {
    if (!where.url.empty()) {
        const std::string token = line_of(where.token_file, 1);
        if (token.empty()) {
            return wrong("--url needs --token-file FILE, with the token on its first line");
        }
        return EngineClient({where.url, {}, token, where.ca_file, false});
    }
    std::string state_dir = where.state_dir;
    std::string keys = state_dir + "/keys";
    std::string file = where.config;
    const char* usual = std::getenv("TRUEUP_CONFIG");
    if (file.empty() && state_dir.empty() && usual != nullptr) file = usual;
    if (!file.empty()) {
        // One policy that is wrong keeps nobody from stopping the others.
        const Result<config::Config> config = config::load_sound_policies(file);
        if (!config) return config.error();
        state_dir = config->state_dir;
        keys = config->keys;
    }
    if (state_dir.empty()) {
        return wrong("no engine is named; write -c CONFIG, --state-dir FOLDER, or --url URL");
    }
    Result<Address> local = local_address(state_dir, keys);
    if (!local) return local.error();
    return EngineClient(std::move(*local));
}

Result<Json> EngineClient::get(std::string path, const Params& params) const {
    char mark = '?';
    for (const auto& [name, value] : params) {
        path += std::exchange(mark, '&') + name + '=' + connectors::url_encode(value);
    }
    return read(exchange(address_, path, nullptr));
}

Result<Json> EngineClient::post(const std::string& path, const Json& body) const {
    const std::string bytes = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    return read(exchange(address_, path, &bytes));
}

Result<Json> EngineClient::read(const Result<Reply>& reply) const {
    if (!reply) return reply.error();
    Json body = Json::parse(reply->body, nullptr, false);
    if (reply->status < 300 && body.is_object()) return body;
    const bool says = body.is_object() && body.contains("error") && body["error"].is_string();
    return wrong(fmt::format("the engine answered {}: {}", reply->status,
                             says ? body["error"].get<std::string>() : reply->body),
                 reply->status == 404 ? Code::kNotFound : Code::kInvalid);
}

std::string socket_of(const std::string& state_dir) { return state_dir + "/trueup.sock"; }

void write_address(const std::string& state_dir, const std::string& address,
                   const std::string& certificate) {
    if (address.empty()) {
        // A former one may be anybody's port by now, and a token would be sent there.
        std::error_code none;
        std::filesystem::remove(state_dir + "/http.addr", none);
        return;
    }
    std::ofstream file(state_dir + "/http.addr", std::ios::trunc);
    if (certificate.empty()) {
        file << address << '\n';
        return;
    }
    std::error_code ignored;
    file << "https://" << address << '\n'
         << std::filesystem::absolute(certificate, ignored).string() << '\n';
}

}  // namespace trueup::apps
