// Proves api/server.h over real sockets, as strangers speak: what is read, how long it is waited
// for, and who is served meanwhile. tests/e2e/http_attacks_test.py does the same to the process.
#include "tests/api/server_fixture.h"
#include "tests/support/certificate.h"
#include "tests/support/temp_dir.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>

namespace trueup::api {
namespace {

using test_support::RawAnswer;
using test_support::RawHttp;
using test_support::request_text;
using test_support::write_certificate;

using HttpServer = Served;

/// Less than the limits are where a test does not set them.
constexpr Millis kShort{5'000};

const std::string kEndless(std::size_t{64} << 10U, 'x');

/// The bytes that the server takes of an endless body behind `head`, until it takes no more.
std::size_t taken_of(RawHttp& http, const std::string& head, const std::string& piece) {
    http.send(head);
    std::size_t taken = 0;
    while (taken < std::size_t{64} << 20U && http.send(piece)) taken += piece.size();
    return taken;
}

// Symptom: 400 MiB in chunks without a token were kept in memory, and then answered with 401.
TEST_F(HttpServer, ABodyIsNotReadBeforeTheTokenIsKnownAndTheRoleSuffices) {
    serve();
    for (const auto& [secret, status] : {std::pair{std::string(), 401}, {token('v'), 403}}) {
        for (const char* length : {"Content-Length: 4000", "Content-Length: 400000000",
                                   "Transfer-Encoding: chunked", "Content-Encoding: gzip"}) {
            RawHttp http(address());
            std::string head = request_text("POST", "/v1/requests", secret);
            head.insert(head.size() - 2, std::string(length) + "\r\n");
            http.send(head);  // and nothing of the body
            const RawAnswer reply = http.answer();
            EXPECT_EQ(reply.status, status) << length;
            EXPECT_EQ(reply.header("Connection"), "close") << length;
            EXPECT_TRUE(http.ended()) << length;
        }
    }
    EXPECT_TRUE(asked.empty());
}

TEST_F(HttpServer, AnEndlessBodyIsNotTakenOfAnybody) {
    serve();
    const std::string chunk = "10000\r\n" + kEndless + "\r\n";
    for (const std::string& secret : {std::string(), token('o')}) {
        RawHttp http(address());
        std::string head = request_text("POST", "/v1/requests", secret);
        head.insert(head.size() - 2, "Transfer-Encoding: chunked\r\n");
        EXPECT_LT(taken_of(http, head, chunk), std::size_t{32} << 20U)
            << "more than sockets hold by themselves";
        EXPECT_TRUE(http.ended());
    }
    EXPECT_TRUE(asked.empty());
}

// Symptom: the limit of a body held for Content-Length only.
TEST_F(HttpServer, ABodyHas64KiBAtTheMostHoweverItIsSent) {
    serve();
    const std::string most(std::size_t{64} << 10U, ' ');
    EXPECT_EQ(ask("POST", "/internal/reconcile", token('o'), most).status, 202);
    EXPECT_EQ(ask("POST", "/internal/reconcile", token('o'), most + " ").status, 413);
    const auto chunked = [&](const std::string& chunks) {
        RawHttp http(address());
        std::string head = request_text("POST", "/internal/reconcile", token('o'));
        head.insert(head.size() - 2, "Transfer-Encoding: chunked\r\n");
        http.send(head + chunks);
        return http.answer().status;
    };
    EXPECT_EQ(chunked("10000\r\n" + most + "\r\n0\r\n\r\n"), 202);
    EXPECT_EQ(chunked("10000\r\n" + most + "\r\n1\r\n \r\n0\r\n\r\n"), 413);
    std::string beside;  // one byte in each chunk, and much beside it
    for (int i = 0; i < 30; ++i) beside += "1;" + std::string(5'000, 'e') + "\r\n \r\n";
    EXPECT_EQ(chunked(beside), 413);
    EXPECT_EQ(chunked("1;" + std::string(20'000, 'e')), 413);
    EXPECT_EQ(asked.size(), 2U);
}

TEST_F(HttpServer, AHeaderHas8KiBAtTheMostInOneLineOrInMany) {
    serve();
    const std::string start = "GET /healthz HTTP/1.1\r\n";
    std::string lines;
    while (lines.size() < 9'000) lines += "X-Nothing: at all\r\n";
    for (const std::string& flood : {start + "X-Long: " + std::string(9'000, 'l'), start + lines,
                                     "GET /" + std::string(9'000, 'p'), std::string(9'000, 'G')}) {
        RawHttp http(address());
        http.send(flood);
        EXPECT_GE(http.answer().status, 400) << flood.substr(0, 40);
        EXPECT_TRUE(http.ended()) << flood.substr(0, 40);
    }
    RawHttp sound(address());
    sound.send(start + lines.substr(0, 19 * 400) + "\r\n");
    EXPECT_EQ(sound.answer().status, 200);
}

TEST_F(HttpServer, WhatCanBeReadInTwoWaysIsRefused) {
    serve();
    const std::string start =
        "POST /internal/reconcile HTTP/1.1\r\nAuthorization: Bearer " + token('o') + "\r\n";
    const std::vector<std::pair<std::string, int>> all{
        {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
        {"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
        {"Content-Length: -1\r\n\r\n", 400},
        {"Content-Length: 99999999999999999999999\r\n\r\n", 400},
        {"Authorization: Bearer " + token('v') + "\r\n\r\n", 400},
        {"Transfer-Encoding: gzip, chunked\r\n\r\n", 501},
        {"Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\n", 415},
        {"Expect: a miracle\r\n\r\n", 417},
        {"no colon\r\n\r\n", 400}};
    for (const auto& [rest, status] : all) {
        RawHttp http(address());
        http.send(start + rest);
        EXPECT_EQ(http.answer().status, status) << rest;
        EXPECT_TRUE(http.ended()) << rest;
    }
    EXPECT_TRUE(asked.empty());
}

// Symptom: curl -X POST without a body was answered with 411, or not at all.
TEST_F(HttpServer, APostWithoutABodyIsServed) {
    serve();
    EXPECT_EQ(ask("POST", "/internal/reconcile", token('o')).status, 202);
    const RawAnswer reply = ask("POST", "/v1/requests", token('o'));
    EXPECT_EQ(reply.status, 400);
    EXPECT_TRUE(has(reply.body, "the body must be a JSON object")) << reply.body;
}

TEST_F(HttpServer, HeadGoesWhereGetGoesAndOtherMethodsAreToldWhichOne) {
    serve();
    for (const char* path : {"/healthz", "/metrics", "/v1/findings"}) {
        const RawAnswer head = ask("HEAD", path, token('v'));
        EXPECT_EQ(head.status, 200) << path;
        EXPECT_NE(head.header("Content-Length"), "0") << path;
        const RawAnswer put = ask("PUT", path, token('v'));
        EXPECT_EQ(put.status, 405) << path;
        EXPECT_EQ(put.header("Allow"), "GET, HEAD") << path;
    }
    EXPECT_EQ(ask("GET", "/v1/requests", token('o')).header("Allow"), "POST");
    EXPECT_EQ(ask("GET", "/nowhere", token('o')).status, 404);
    EXPECT_EQ(ask("GET", "/v1/requests/a/b", token('o')).status, 404);
    EXPECT_EQ(ask("GET", "/v1/findings?rule=%zz", token('v')).status, 400);
}

TEST_F(HttpServer, AConnectionCarriesOneRequestBehindTheOther) {
    serve();
    RawHttp http(address());
    const std::string one = request_text("POST", "/internal/reconcile", token('o'), "{}");
    http.send(one + request_text("GET", "/healthz", "") + one);
    EXPECT_EQ(http.answer().status, 202);
    EXPECT_EQ(http.answer().body, "alive\n");
    EXPECT_EQ(http.answer().status, 202);
    http.send("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(http.answer().status, 200);
    EXPECT_TRUE(http.ended());
}

TEST_F(HttpServer, WhoAsksBeforeItSendsTheBodyIsToldToGoOn) {
    serve();
    RawHttp http(address());
    std::string head = request_text("POST", "/internal/reconcile", token('o'));
    head.insert(head.size() - 2, "Expect: 100-continue\r\nContent-Length: 2\r\n");
    http.send(head);
    EXPECT_EQ(http.answer().status, 100);
    http.send("{}");
    EXPECT_EQ(http.answer().status, 202);
}

// Symptom: two connections that sent a header line each 3 s kept /healthz from answering.
TEST_F(HttpServer, StrangersWhoFillTheServerGiveWayToTheNextOneAndTokensStay) {
    ServerSettings settings;
    settings.limits.connections = 8;
    serve(settings);
    RawHttp operator_(address());
    operator_.send(request_text("GET", "/v1/findings", token('v')));
    EXPECT_EQ(operator_.answer().status, 200);
    std::vector<std::unique_ptr<RawHttp>> slow;
    for (int i = 0; i < 50; ++i) {
        slow.push_back(std::make_unique<RawHttp>(address()));
        slow.back()->send("GET /healthz HTTP/1.1\r\nX-");
        EXPECT_EQ(ask("GET", "/healthz").status, 200) << i;
        EXPECT_EQ(ask("GET", "/readyz").status, 503) << i;
    }
    EXPECT_TRUE(slow.front()->ended()) << "the oldest gave way";
    operator_.send(request_text("GET", "/v1/findings", token('v')));
    EXPECT_EQ(operator_.answer().status, 200) << "and not the one with a token";
    EXPECT_TRUE(has(ask("GET", "/metrics").body, R"(trueup_http_refused_total{reason="full"})"));
}

TEST_F(HttpServer, WhoHasATokenKeepsNobodyOutWithConnectionsEither) {
    ServerSettings settings;
    settings.limits.connections = 8;
    serve(settings);
    RawHttp stranger(address());
    std::vector<std::unique_ptr<RawHttp>> many;
    for (int i = 0; i < 20; ++i) {
        many.push_back(std::make_unique<RawHttp>(address()));
        many.back()->send(request_text("GET", "/v1/findings", token('a')));
        EXPECT_EQ(many.back()->answer().status, 200) << i;
    }
    stranger.send(request_text("GET", "/healthz", ""));
    EXPECT_EQ(stranger.answer().status, 200) << "it was there before them";
    EXPECT_TRUE(many.front()->ended());
}

TEST_F(HttpServer, EachWaitHasAnEndHoweverLittleComesAtATime) {
    ServerSettings settings;
    settings.limits.header = settings.limits.body = settings.limits.idle = Millis{1'000};
    serve(settings);
    RawHttp header(address());
    header.send("GET /healthz HTTP/1.1\r\nX-");
    bool over = false;
    for (int i = 0; i < 250 && !over; ++i) {
        header.send("x");
        over = header.ended(Millis{20});
    }
    EXPECT_TRUE(over);
    RawHttp body(address());
    std::string head = request_text("POST", "/v1/requests", token('o'));
    head.insert(head.size() - 2, "Content-Length: 1000\r\n");
    body.send(head);
    EXPECT_TRUE(body.ended(kShort));
    RawHttp idle(address());
    idle.send(request_text("GET", "/healthz", ""));
    EXPECT_EQ(idle.answer().status, 200);
    EXPECT_TRUE(idle.ended(kShort));
    EXPECT_TRUE(asked.empty());
}

TEST_F(HttpServer, TheEndOfTheServerWaitsForNoClient) {
    serve();
    std::vector<std::unique_ptr<RawHttp>> clients;
    for (const char* begun : {"", "GET", "GET /healthz HTTP/1.1\r\n"}) {
        clients.push_back(std::make_unique<RawHttp>(address()));
        clients.back()->send(begun);
    }
    clients.push_back(std::make_unique<RawHttp>(address()));
    std::string head = request_text("POST", "/v1/requests", token('o'));
    head.insert(head.size() - 2, "Content-Length: 1000\r\n");
    clients.back()->send(head);
    ASSERT_EQ(ask("GET", "/healthz").status, 200);
    server.reset();
    for (const auto& client : clients) EXPECT_TRUE(client->ended());
}

// Symptom: a second process on the same port was started, and each got half of what was asked.
TEST_F(HttpServer, ASecondOneOnThePortIsRefusedInASentence) {
    serve();
    const std::string port = address().substr(address().rfind(':'));
    for (const std::string host : {"127.0.0.1", "0.0.0.0"}) {
        ServerSettings settings;
        settings.listen = host + port;
        const auto second = Server::start(settings, backends());
        ASSERT_FALSE(second.ok()) << settings.listen;
        EXPECT_EQ(second.error().what, "cannot listen on " + settings.listen +
                                           ": another process has the port; set http.listen to a "
                                           "free one, or to port 0");
    }
    const std::string same = address();
    ASSERT_EQ(ask("GET", "/healthz").status, 200);
    server.reset();
    ServerSettings settings;
    settings.listen = same;
    const auto next = Server::start(settings, backends());
    EXPECT_TRUE(next.ok()) << "the port of one that has ended is free: " << next.error().what;
}

// Symptom: with `http: {listen: off}` nobody could pause, hold or approve.
TEST_F(HttpServer, WithoutAPortItServesOnItsSocketForThisAccountAlone) {
    const testing::TempDir dir;
    ServerSettings settings;
    settings.socket = dir / "trueup.sock";
    serve(settings);
    EXPECT_EQ(address(), "");
    const auto mode = std::filesystem::status(settings.socket).permissions();
    EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_EQ(test_support::call(settings.socket, "GET", "/healthz", {}).status, 200);
    EXPECT_EQ(test_support::call(settings.socket, "GET", "/v1/findings", {}).status, 401)
        << "a token is asked for there, too: what is done has a name";
    EXPECT_EQ(test_support::call(settings.socket, "GET", "/v1/findings", token('v')).status, 200);
    server.reset();
    EXPECT_FALSE(std::filesystem::exists(settings.socket));
}

TEST_F(HttpServer, ASocketThatADeadProcessLeftIsTakenOverAndALivingOnesIsNot) {
    const testing::TempDir dir;
    ServerSettings settings;
    settings.socket = dir / "trueup.sock";
    const int dead = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un place{};
    place.sun_family = AF_UNIX;
    settings.socket.copy(place.sun_path, settings.socket.size());
    ASSERT_EQ(::bind(dead, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
    ::close(dead);
    serve(settings);
    const auto second = Server::start(settings, backends());
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().what, "another process serves on " + settings.socket +
                                       "; stop it, or give this one its own state_dir");
    EXPECT_EQ(test_support::call(settings.socket, "GET", "/healthz", {}).status, 200);
}

TEST_F(HttpServer, APathThatIsTooLongForASocketIsToldAndThePortServes) {
    ServerSettings settings;
    settings.listen = "127.0.0.1:0";
    settings.socket = "/tmp/" + std::string(200, 'x');
    auto started = Server::start(settings, backends());
    ASSERT_TRUE(started.ok()) << started.error().what;
    ASSERT_EQ(warned().size(), 1U);
    EXPECT_TRUE(has(warned()[0], "too long for a socket"));
    EXPECT_EQ(test_support::call((*started)->address(), "GET", "/healthz", {}).status, 200);
}

// Symptom: without a file left it took no connection ever again, or asked for one all the time.
TEST_F(HttpServer, WithoutAFileLeftAStrangerGivesOneBackAndTheNextOneIsServed) {
    serve();
    RawHttp stranger(address());
    stranger.send(request_text("GET", "/healthz", ""));
    EXPECT_EQ(stranger.answer().status, 200);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit few{100, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    std::vector<int> files;
    for (int file = 0; (file = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) {
        files.push_back(file);
    }
    ASSERT_FALSE(files.empty());
    close(files.back());  // for the client's end; none is left for the server's
    files.pop_back();
    {
        RawHttp next(address());
        next.send(request_text("GET", "/healthz", ""));
        EXPECT_EQ(next.answer().status, 200);
        EXPECT_TRUE(stranger.ended());
    }
    for (const int file : files) close(file);
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(ask("GET", "/healthz").status, 200);
}

// Symptom: a look that failed ended the whole process.
TEST_F(HttpServer, ALookThatFailsIsAnswered500AndToldOnceAndTheNextOneIsAsEver) {
    std::atomic<bool> blind{true};
    on_look = [&blind] {
        if (blind) throw std::runtime_error("no such folder");
    };
    serve();
    for (const char* path : {"/metrics", "/readyz", "/metrics"}) {
        const RawAnswer reply = ask("GET", path);
        EXPECT_EQ(reply.status, 500) << path;
        EXPECT_FALSE(has(reply.body, "folder")) << reply.body;
    }
    EXPECT_EQ(ask("GET", "/healthz").status, 200);
    EXPECT_EQ(warned(), std::vector<std::string>{
                            "http: cannot read the state of the process: no such folder"});
    blind = false;
    EXPECT_EQ(ask("GET", "/metrics").status, 200);
    EXPECT_EQ(ask("GET", "/readyz").status, 503);
    server.reset();
}

// Symptom: each /metrics that a stranger sent behind the last walked through the log's folder.
TEST_F(HttpServer, OneLookIsForAllWhoAskUntilItIsOld) {
    std::atomic<int> looks{0};
    on_look = [&looks] { ++looks; };
    look = std::chrono::hours(1);
    serve();
    RawHttp http(address());
    std::string many;
    for (int i = 0; i < 20; ++i) many += request_text("GET", "/metrics", "");
    http.send(many);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(http.answer().status, 200) << i;
    EXPECT_EQ(ask("GET", "/readyz").status, 503);
    EXPECT_EQ(looks, 1);
    server.reset();
}

// Symptom: /readyz told everybody the hosts, the roles and the words of servers.
TEST_F(HttpServer, StrangersSeeThatItIsNotReadyAndNoNames) {
    const std::string words = "connection to server at db-7.internal failed: role \"trueup\"";
    std::vector<Snapshot> all(7);
    all[0].refused = all[1].log_trouble = all[2].executor_trouble = words;
    for (std::size_t i = 1; i < 6; ++i) all[i].caught_up = i > 2;
    for (std::size_t i = 3; i < 6; ++i) all[i].sources.emplace_back().name = "db-7";
    all[3].sources[0].trouble = words;
    all[4].sources[0].known = true;
    all[5].sources[0].quarantine.kind = Quarantine::kDrop;
    all[6].starting = words;
    serve();
    for (const Snapshot& one : all) {
        snapshot = one;
        const RawAnswer stranger = ask("GET", "/readyz");
        EXPECT_EQ(stranger.status, 503);
        EXPECT_TRUE(stranger.body.starts_with("not ready: ")) << stranger.body;
        EXPECT_FALSE(has(stranger.body, "db-7") || has(stranger.body, "role")) << stranger.body;
        EXPECT_EQ(ask("GET", "/readyz", token('v')).body, one.not_ready() + "\n");
        EXPECT_EQ(ask("GET", "/readyz", token('x')).body, stranger.body) << "whose time is over";
    }
    snapshot = {};
    snapshot.caught_up = true;
    EXPECT_EQ(ask("GET", "/readyz").body, "ready\n");
    snapshot.tallies = {{std::string(kUnknownWords), "rows", "status", 3}};
    EXPECT_EQ(ask("GET", "/readyz").body, "ready\n");
    const RawAnswer remarked = ask("GET", "/readyz", token('v'));
    EXPECT_EQ(remarked.status, 200);
    EXPECT_TRUE(has(remarked.body, "3 objects have a word in rows.status")) << remarked.body;
    snapshot.configuration = "trueup.yaml:7: rules.orphaned is not a rule; it goes on as it was";
    const RawAnswer goes_on = ask("GET", "/readyz", token('v'));
    EXPECT_EQ(goes_on.status, 200) << "what runs goes on by the policy in its journal";
    EXPECT_TRUE(has(goes_on.body, snapshot.configuration)) << goes_on.body;
    EXPECT_EQ(ask("GET", "/readyz").body, "ready\n") << "files are nobody else's business";
}

TEST_F(HttpServer, WhoHasNoGoodTokenIsToldToWaitAndAGoodOneIsServedFromTheSameAddress) {
    serve();
    int waits = 0;
    for (int i = 0; i < 30; ++i) {
        const RawAnswer reply = ask("GET", "/v1/findings", "wrong-" + std::to_string(i));
        EXPECT_TRUE(reply.status == 401 || reply.status == 429) << reply.status;
        if (reply.status != 429) continue;
        ++waits;
        EXPECT_NE(reply.header("Retry-After"), "");
    }
    EXPECT_GE(waits, 10);
    EXPECT_EQ(ask("GET", "/v1/findings", token('v')).status, 200);
    EXPECT_EQ(ask("GET", "/readyz").status, 503) << "as it is, and not 429";
    const auto told = warned();
    ASSERT_FALSE(told.empty());
    EXPECT_EQ(told[0], "http: 127.0.0.1 asked for /v1/findings without a valid token");
    EXPECT_LE(told.size(), 22U);
    for (const std::string& sentence : told) EXPECT_FALSE(has(sentence, "wrong-")) << sentence;
}

TEST_F(HttpServer, ARoleThatDoesNotSufficeIsToldWithTheCallersName) {
    serve();
    EXPECT_EQ(ask("POST", "/internal/reconcile", token('v')).status, 403);
    EXPECT_EQ(warned(), std::vector<std::string>{"http: 127.0.0.1 asked for /internal/reconcile as "
                                                 "'vera', whose role does not allow it"});
}

TEST_F(HttpServer, ItCountsWhatItAnsweredAndWhatItRefused) {
    serve();
    EXPECT_EQ(ask("GET", "/healthz").status, 200);
    EXPECT_EQ(ask("GET", "/v1/findings").status, 401);
    const std::string page = ask("GET", "/metrics").body;
    EXPECT_TRUE(has(page, "trueup_http_requests_total{code=\"2xx\"} 1\n")) << page;
    EXPECT_TRUE(has(page, "trueup_http_requests_total{code=\"4xx\"} 1\n")) << page;
    EXPECT_TRUE(has(page, "trueup_http_refused_total{reason=\"unauthorized\"} 1\n")) << page;
    EXPECT_TRUE(has(page, "trueup_http_connections ")) << page;
}

/// The status of a GET that believes `ca` alone; 0: the certificate is another one.
long over_tls(const std::string& address, const std::string& ca) {
    CURL* curl = curl_easy_init();
    const std::string url = "https://" + address + "/healthz";
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_CAINFO, ca.c_str());
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    long status = 0;
    if (curl_easy_perform(curl) == CURLE_OK) {
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_easy_cleanup(curl);
    return status;
}

TEST_F(HttpServer, ACertificateThatChangesIsShownFromThenOnAndABadOneIsTold) {
    const testing::TempDir dir;
    const std::string folder = dir.path();
    write_certificate(folder, "first");
    std::filesystem::copy(folder + "/cert.pem", folder + "/first.pem");
    ServerSettings settings;
    settings.cert_file = folder + "/cert.pem";
    settings.key_file = folder + "/key.pem";
    serve(settings);
    EXPECT_EQ(over_tls(address(), folder + "/first.pem"), 200);
    EXPECT_EQ(ask("GET", "/healthz").status, 0) << "in the clear there is nothing";

    const auto age = [&](int hours) {
        for (const char* file : {"/cert.pem", "/key.pem"}) {
            std::filesystem::last_write_time(
                folder + file,
                std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
        }
    };
    write_certificate(folder, "second");
    age(2);
    EXPECT_EQ(over_tls(address(), folder + "/cert.pem"), 200);
    EXPECT_EQ(over_tls(address(), folder + "/first.pem"), 0);
    std::filesystem::copy(folder + "/cert.pem", folder + "/second.pem");

    std::filesystem::resize_file(folder + "/key.pem", 10);
    age(1);
    EXPECT_EQ(over_tls(address(), folder + "/second.pem"), 200) << "the last one that was sound";
    const auto told = warned();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_TRUE(told[0].starts_with("http.tls.key_file " + folder + "/key.pem cannot be used"));
    settings.listen = "127.0.0.1:0";
    EXPECT_FALSE(Server::start(settings, backends()).ok()) << "at the start it is an error";
}

/// The settings of TLS with the files of write_certificate().
ServerSettings tls_of(const testing::TempDir& dir) {
    ServerSettings settings;
    settings.cert_file = std::string(dir.path()) + "/cert.pem";
    settings.key_file = std::string(dir.path()) + "/key.pem";
    return settings;
}

// Symptom: a key that chmod had made readable was not read until somebody touched it.
TEST_F(HttpServer, AKeyThatWasRefusedIsReadAgainWithoutAnotherTimeAndToldOnce) {
    const testing::TempDir dir;
    write_certificate(dir.path(), "first");
    const ServerSettings settings = tls_of(dir);
    serve(settings);
    write_certificate(dir.path(), "second");
    const auto time = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
    std::filesystem::last_write_time(settings.key_file, time);
    using std::filesystem::perms;
    std::filesystem::permissions(settings.key_file, perms::owner_read | perms::others_read);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(over_tls(address(), settings.cert_file), 0);
    const auto told = warned();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_TRUE(told[0].starts_with("http.tls.key_file: " + settings.key_file + " (mode 0404"));
    EXPECT_TRUE(has(told[0], "may be read by others; write chmod 600")) << told[0];
    std::filesystem::permissions(settings.key_file, perms::owner_read);
    ASSERT_EQ(std::filesystem::last_write_time(settings.key_file), time);
    EXPECT_EQ(over_tls(address(), settings.cert_file), 200);
    EXPECT_EQ(warned().size(), 1U);
}

// Symptom: a key that anybody could read was taken without a word.
TEST_F(HttpServer, AKeyThatOthersMayReadIsRefusedAtTheStart) {
    const testing::TempDir dir;
    write_certificate(dir.path(), "host");
    ServerSettings settings = tls_of(dir);
    settings.listen = "127.0.0.1:0";
    using std::filesystem::perms;
    std::filesystem::permissions(settings.key_file, perms::others_read,
                                 std::filesystem::perm_options::add);
    const auto open = Server::start(settings, backends());
    ASSERT_FALSE(open.ok());
    EXPECT_TRUE(has(open.error().what, "may be read by others")) << open.error().what;
}

// Symptom: a key with a password asked for it on the terminal, and the start waited there.
TEST_F(HttpServer, AKeyWithAPasswordIsRefusedInASentence) {
    const testing::TempDir dir;
    write_certificate(dir.path(), "host", "secret");
    ServerSettings settings = tls_of(dir);
    settings.listen = "127.0.0.1:0";
    const auto locked = Server::start(settings, backends());
    ASSERT_FALSE(locked.ok());
    EXPECT_EQ(locked.error().what, "http.tls.key_file " + settings.key_file +
                                       " is encrypted with a password, which Trueup cannot ask "
                                       "for; remove it: openssl pkey -in FILE -out OTHER");
}

// Symptom: what was thrown while a connection came was the end of all that came behind it.
TEST_F(HttpServer, AConnectionThatCannotBeBegunIsNotTheLastOne) {
    const testing::TempDir dir;
    write_certificate(dir.path(), "host");
    throwing_warnings = 1;
    serve(tls_of(dir));
    std::filesystem::resize_file(std::string(dir.path()) + "/key.pem", 10);
    std::filesystem::last_write_time(
        std::string(dir.path()) + "/key.pem",
        std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    RawHttp lost(address());
    EXPECT_TRUE(lost.ended(kShort));
    EXPECT_EQ(over_tls(address(), std::string(dir.path()) + "/cert.pem"), 200);
    const auto told = warned();
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[1], "http: no memory left");
}

TEST_F(HttpServer, WhoSaysNothingBehindTlsIsWaitedForNoLonger) {
    const testing::TempDir dir;
    write_certificate(dir.path(), "host");
    ServerSettings settings = tls_of(dir);
    settings.limits.header = Millis{200};
    serve(settings);
    RawHttp silent(address());
    EXPECT_TRUE(silent.ended(kShort));
    EXPECT_EQ(over_tls(address(), std::string(dir.path()) + "/cert.pem"), 200);
}

}  // namespace
}  // namespace trueup::api
