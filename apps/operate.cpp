#include "apps/operate.h"

#include "apps/config/config.h"
#include "connectors/kubernetes/paths.h"
#include "engine/base/result.h"

#include <curl/curl.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace trueup::apps {

namespace {

using Json = nlohmann::ordered_json;

constexpr Millis kPatience{15'000};
constexpr Millis kSaySo{2'000};
constexpr Millis kPoll{100};
constexpr int kWrong = 2;

int complain(const std::string& sentence) {
    fmt::print(stderr, "trueup: {}\n", sentence);
    return kWrong;
}

Error wrong(std::string sentence) { return {Next::kStop, std::move(sentence)}; }

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

struct Reply {
    long status = 0;
    std::string body;
};

struct CurlFree {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

std::size_t keep(char* data, std::size_t size, std::size_t count, void* body) {
    static_cast<std::string*>(body)->append(data, size * count);
    return size * count;
}

/// An engine's address, and how it is known that it is the engine.
struct Peer {
    std::string url;
    std::string token;
    std::string ca_file;  ///< empty: what the system trusts
    /// It is the one of this machine, whose certificate need not name the loopback address.
    bool local = false;
};

/// One exchange; the body is sent where there is one. The error says what did not happen.
Result<Reply> exchange(const Peer& peer, const std::string& path, const std::string* body) {
    static const CURLcode kReady = curl_global_init(CURL_GLOBAL_DEFAULT);
    const std::unique_ptr<CURL, CurlFree> handle(kReady == CURLE_OK ? curl_easy_init() : nullptr);
    if (!handle) return wrong("libcurl cannot start");
    CURL* curl = handle.get();
    Reply reply;
    std::unique_ptr<curl_slist, CurlFree> headers;
    for (const std::string& line :
         {"Authorization: Bearer " + peer.token, std::string("Content-Type: application/json"),
          std::string("Expect:")}) {
        curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
        if (longer == nullptr) return wrong("there is no memory left");
        static_cast<void>(headers.release());
        headers.reset(longer);
    }
    curl_easy_setopt(curl, CURLOPT_URL, (peer.url + path).c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");  // a token is for the engine only
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 5L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply.body);
    if (!peer.ca_file.empty()) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, peer.ca_file.c_str());
        curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);
    }
    if (peer.local) curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    if (body != nullptr) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body->size()));
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body->c_str());
    }
    const CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) {
        return wrong(fmt::format("{} does not answer ({}); is `trueup up` running?", peer.url,
                                 curl_easy_strerror(code)));
    }
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
    return reply;
}

using Params = std::vector<std::pair<std::string, std::string>>;

/// One engine over HTTP.
class Engine {
  public:
    static Result<Engine> find(const EngineAddress& where) {
        if (!where.url.empty()) {
            const std::string token = line_of(where.token_file, 1);
            if (token.empty()) {
                return wrong("--url goes with --token-file FILE, whose first line is the token");
            }
            return Engine({where.url, token, where.ca_file, false});
        }
        std::string state_dir = where.state_dir;
        std::string keys = state_dir + "/keys";
        std::string file = where.config;
        const char* usual = std::getenv("TRUEUP_CONFIG");
        if (file.empty() && state_dir.empty() && usual != nullptr) file = usual;
        if (!file.empty()) {
            const Result<config::Config> config = config::load_config(file);
            if (!config) return config.error();
            state_dir = config->state_dir;
            keys = config->keys;
        }
        if (state_dir.empty()) {
            return wrong("which engine? write -c CONFIG, --state-dir FOLDER, or --url URL");
        }
        const std::string address = line_of(state_dir + "/http.addr", 1);
        if (address.empty()) {
            return wrong("no engine has run in " + state_dir +
                         ": there is no http.addr; start `trueup up`, or write --url");
        }
        const std::string token = local_token(keys);
        if (token.empty()) {
            return wrong(keys +
                         "/tokens cannot be read; run this as the engine's user, "
                         "or write --url and --token-file");
        }
        if (address.find("://") == std::string::npos)
            return Engine({"http://" + address, token, {}});
        // With TLS the second line is the certificate that the engine shows.
        return Engine({address, token, line_of(state_dir + "/http.addr", 2), true});
    }

    Result<Json> get(std::string path, const Params& params = {}) {
        char mark = '?';
        for (const auto& [name, value] : params) {
            path += std::exchange(mark, '&') + name + '=' + connectors::url_encode(value);
        }
        return read(exchange(peer_, path, nullptr));
    }
    Result<Json> post(const std::string& path, const Json& body) {
        const std::string bytes = body.dump(-1, ' ', false, Json::error_handler_t::replace);
        return read(exchange(peer_, path, &bytes));
    }

  private:
    explicit Engine(Peer peer) : peer_(std::move(peer)) {}
    Result<Json> read(const Result<Reply>& reply) const {
        if (!reply) return reply.error();
        Json body = Json::parse(reply->body, nullptr, false);
        if (reply->status < 300 && body.is_object()) return body;
        const bool says = body.is_object() && body.contains("error") && body["error"].is_string();
        return wrong(fmt::format("{} answers {}: {}", peer_.url, reply->status,
                                 says ? body["error"].get<std::string>() : reply->body));
    }

    Peer peer_;
};

std::string text(const Json& json, const char* name) { return json.value(name, std::string()); }

std::string full_subject(const std::string& subject) {
    const bool whole = subject.empty() || subject.find('/') != std::string::npos;
    return whole ? subject : "graph-instances/" + subject;
}

std::string handle_of(const Json& finding) {
    return text(finding, "id").substr(0, 8) + "@" +
           std::to_string(finding.value("offset", std::int64_t{-1}));
}

/// Sends the request, waits until the engine has come to it, and says what came of it.
int ask(Engine& engine, const Json& body, FeedFormat format) {
    const Result<Json> taken = engine.post("/v1/requests", body);
    if (!taken) return complain(taken.error().what);
    const std::string id = text(*taken, "request");
    const auto start = std::chrono::steady_clock::now();
    bool said = false;
    for (;;) {
        const Result<Json> answer = engine.get("/v1/requests/" + id);
        if (!answer) return complain(answer.error().what);
        const std::string state = text(*answer, "state");
        if (state != "pending") {
            if (format == FeedFormat::kJson) {
                fmt::print("{}\n", answer->dump());
            } else {
                fmt::print("{}: {}\n", state, text(*answer, "sentence"));
            }
            return state == "granted" ? 0 : 1;
        }
        const auto waited = std::chrono::steady_clock::now() - start;
        if (waited > kPatience) {
            return complain(
                fmt::format("request {0} is in the log, and the engine has not come to it yet; "
                            "ask again with GET /v1/requests/{0}",
                            id));
        }
        if (waited > kSaySo && !std::exchange(said, true)) {
            fmt::print(stderr, "waiting for the engine ...\n");
        }
        std::this_thread::sleep_for(kPoll);
    }
}

Json request_of(const OperateOptions& options, const std::string& kind) {
    Json body{{"kind", kind}};
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) body[name] = value;
    };
    add("subject", full_subject(options.subject));
    add("rule", options.rule);
    add("source", options.source);
    add("because", options.because);
    add("reason", options.reason);
    if (options.seen) body["seen"] = *options.seen;
    if (options.drop) body["drop"] = true;
    return body;
}

Result<Json> list(Engine& engine, const OperateOptions& options) {
    Params params{{"limit", std::to_string(options.limit)}};
    if (!options.rule.empty()) params.emplace_back("rule", options.rule);
    if (!options.because.empty()) params.emplace_back("reason", options.because);
    if (!options.subject.empty()) params.emplace_back("subject", full_subject(options.subject));
    return engine.get("/v1/findings", params);
}

void print_findings(const Json& page) {
    constexpr std::string_view kRow = "{:<17} {:<21} {:<10} {:<18} {}\n";
    for (const Json& quarantine : page.value("quarantines", Json::array())) {
        fmt::print("quarantine: {}\n", text(quarantine, "sentence"));
    }
    if (!page["findings"].empty()) {
        fmt::print(kRow, "FINDING", "RULE", "STATE", "REASON", "WHAT");
    }
    for (const Json& finding : page["findings"]) {
        fmt::print(kRow, handle_of(finding), text(finding, "rule"), text(finding, "state"),
                   text(finding, "reason"), text(finding, "sentence"));
    }
    const auto more =
        page.value("more", std::uint64_t{0}) + page.value("not_kept", std::uint64_t{0});
    if (more > 0) fmt::print("... and {} more\n", more);
    fmt::print("{} open, as of journal offset {}\n", page["findings"].size() + more,
               page.value("seen", std::int64_t{-1}));
}

/// The one finding that a handle means; the error says what to write instead.
Result<Json> find(Engine& engine, const std::string& handle) {
    const std::string id = handle.substr(0, handle.find('@'));
    if (id.size() < 4) return wrong("write a finding as `trueup findings list` shows it");
    OperateOptions all;
    all.limit = 20'000;
    const Result<Json> page = list(engine, all);
    if (!page) return page.error();
    std::vector<Json> found;
    for (const Json& finding : (*page)["findings"]) {
        if (text(finding, "id").starts_with(id)) found.push_back(finding);
    }
    if (found.size() == 1) return found.front();
    return wrong(found.empty() ? "no open finding begins with " + id + "; it may be over already"
                               : id + " means several findings; write more of its digits");
}

std::optional<std::int64_t> seen_of(const std::string& handle) {
    const std::size_t at = handle.find('@');
    if (at == std::string::npos) return std::nullopt;
    std::int64_t seen = 0;
    const char* end = handle.data() + handle.size();
    const auto read = std::from_chars(handle.data() + at + 1, end, seen);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return seen;
}

int ask_about(const OperateOptions& options, const std::string& kind) {
    Result<Engine> engine = Engine::find(options.engine);
    if (!engine) return complain(engine.error().what);
    const Result<Json> finding = find(*engine, options.handle);
    if (!finding) return complain(finding.error().what);
    OperateOptions about;
    about.reason = options.reason;
    about.drop = options.drop;
    about.subject = text(*finding, "subject");
    if (kind == "approve") {
        about.seen = seen_of(options.handle);
        if (!about.seen) {
            return complain(
                "an approval is of what you saw: write the finding with its offset, "
                "as in " +
                handle_of(*finding));
        }
    }
    Json body = request_of(about, kind);
    body["finding"] = text(*finding, "id");
    return ask(*engine, body, options.format);
}

/// True once `yes` was typed; anything else is a no.
bool confirmed(bool already, std::size_t count) {
    if (already) return true;
    fmt::print("Delete these {} pods? Type yes or no: ", count);
    std::fflush(stdout);
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "yes";
}

}  // namespace

void write_address(const std::string& state_dir, const std::string& address,
                   const std::string& certificate) {
    std::ofstream file(state_dir + "/http.addr", std::ios::trunc);
    if (certificate.empty()) {
        file << address << '\n';
        return;
    }
    std::error_code ignored;
    file << "https://" << address << '\n'
         << std::filesystem::absolute(certificate, ignored).string() << '\n';
}

int run_findings_list(const OperateOptions& options) {
    Result<Engine> engine = Engine::find(options.engine);
    if (!engine) return complain(engine.error().what);
    const Result<Json> page = list(*engine, options);
    if (!page) return complain(page.error().what);
    if (options.format == FeedFormat::kJson) {
        fmt::print("{}\n", page->dump(2));
    } else {
        print_findings(*page);
    }
    return 0;
}

int run_findings_show(const OperateOptions& options) {
    Result<Engine> engine = Engine::find(options.engine);
    if (!engine) return complain(engine.error().what);
    const Result<Json> finding = find(*engine, options.handle);
    if (!finding) return complain(finding.error().what);
    if (options.format == FeedFormat::kJson) {
        fmt::print("{}\n", finding->dump(2));
        return 0;
    }
    for (const auto& [name, value] : finding->items()) {
        fmt::print("{:<9} {}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    return 0;
}

int run_findings_approve(const OperateOptions& options) {
    if (!options.handle.empty()) return ask_about(options, "approve");
    if (options.because.empty() || !options.seen) {
        return complain(
            "write a finding as `trueup findings list` shows it; or, for all that wait "
            "for one reason, --because uncorrelated_rows (or approval) and --seen with "
            "the journal offset under that list");
    }
    Result<Engine> engine = Engine::find(options.engine);
    if (!engine) return complain(engine.error().what);
    return ask(*engine, request_of(options, "approve"), options.format);
}

int run_findings_dismiss(const OperateOptions& options) { return ask_about(options, "dismiss"); }

int run_request(const OperateOptions& options, const std::string& kind) {
    Result<Engine> engine = Engine::find(options.engine);
    if (!engine) return complain(engine.error().what);
    return ask(*engine, request_of(options, kind), options.format);
}

int run_cleanup(const OperateOptions& options) {
    Result<Engine> engine = Engine::find(options.engine);
    if (!engine) return complain(engine.error().what);
    OperateOptions orphans = options;
    orphans.rule = "orphaned_pod";
    orphans.limit = 20'000;
    const Result<Json> page = list(*engine, orphans);
    if (!page) return complain(page.error().what);
    std::size_t waiting = 0;
    std::set<std::string> because;
    for (const Json& finding : (*page)["findings"]) {
        const std::string reason = text(finding, "reason");
        if (reason != "approval" && reason != "uncorrelated_rows") continue;
        because.insert(reason);
        ++waiting;
    }
    print_findings(*page);
    if (waiting == 0) {
        fmt::print(
            "none of these orphans waits for your word; for a cleanup by hand set the mode "
            "of orphaned_pod to approve\n");
        return 0;
    }
    if (!confirmed(options.yes, waiting)) {
        fmt::print("aborted; nothing was deleted\n");
        return 1;
    }
    orphans.seen = page->value("seen", std::int64_t{-1});
    if (orphans.reason.empty()) orphans.reason = "cleanup";
    int code = 0;
    for (const std::string& reason : because) {
        orphans.because = reason;
        code = std::max(code, ask(*engine, request_of(orphans, "approve"), options.format));
    }
    return code;
}

}  // namespace trueup::apps
