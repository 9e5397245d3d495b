#include "api/server.h"

#include "api/side.h"

#include <sys/stat.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace trueup::api {

using Code = boost::system::error_code;

struct Server::Http : Side {
    using Side::Side;
    Status bind_local();
    ~Http();
    std::uint64_t local_inode = 0;  ///< of the socket that was bound here
};

Server::Server(std::unique_ptr<Http> http) : http_(std::move(http)) {}

Server::~Server() {
    http_->io.stop();
    {
        const MutexLock lock(http_->looks_mutex);
        http_->ending = true;
    }
    http_->looks_there.notify_one();
    http_->workers.stop();
    http_->io_thread.join();
    http_->look_thread.join();
    http_->workers.join();
}

const std::string& Server::address() const { return http_->address; }

namespace {

struct Place {
    std::string host;
    std::uint16_t port = 0;
};

std::optional<Place> place_of(const std::string& listen) {
    const std::size_t colon = listen.rfind(':');
    if (colon == std::string::npos) return std::nullopt;
    Place place{listen.substr(0, colon), 0};
    const char* end = listen.data() + listen.size();
    const auto parsed = std::from_chars(listen.data() + colon + 1, end, place.port);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return place;
}

/// For this process alone: SO_REUSEADDR takes over what a dead one left behind, and never what
/// another one listens on; SO_REUSEPORT would share it.
Code bind_alone(tcp::acceptor& acceptor, const tcp::endpoint& endpoint) {
    Code code;
    acceptor.open(endpoint.protocol(), code);
    if (!code) acceptor.set_option(tcp::acceptor::reuse_address(true), code);
    if (!code) acceptor.bind(endpoint, code);
    if (!code) acceptor.listen(asio::socket_base::max_listen_connections, code);
    Code ignored;
    if (code) acceptor.close(ignored);
    return code;
}

Status bind_to(tcp::acceptor& acceptor, const Place& place, const std::string& listen) {
    std::string host = place.host;
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    Code code;
    tcp::resolver resolver(acceptor.get_executor());
    const auto found =
        resolver.resolve(host, std::to_string(place.port),
                         tcp::resolver::passive | tcp::resolver::numeric_service, code);
    for (auto one = found.begin(); one != found.end(); ++one) {
        code = bind_alone(acceptor, one->endpoint());
        if (!code || code == asio::error::address_in_use) break;
    }
    if (!code) return Done{};
    const bool taken = code == asio::error::address_in_use;
    return Error{Next::kRetry, taken ? trueup::Code::kConflict : trueup::Code::kUnavailable,
                 "cannot listen on " + listen + ": " +
                     (taken ? "another process has the port" : code.message()) +
                     "; set http.listen to a free one, or to port 0"};
}

/// May the path be bound? What a dead process left behind refuses a connection, and is removed;
/// anything else belongs to a living one, or cannot be judged.
bool is_free(asio::io_context& io, const local::endpoint& endpoint) {
    local::socket socket(io);
    Code code;
    socket.connect(endpoint, code);
    if (code == asio::error::connection_refused) {
        std::error_code ignored;
        std::filesystem::remove(endpoint.path(), ignored);
        return true;
    }
    return code == boost::system::errc::no_such_file_or_directory;
}

/// Which file it is; another one of that name has another number.
std::uint64_t inode_of(const std::string& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

}  // namespace

Status Server::Http::bind_local() {
    const std::string& path = settings.socket;
    if (path.empty()) return Done{};
    Code code;
    local::endpoint endpoint;
    try {
        endpoint.path(path);
    } catch (const boost::system::system_error&) {
        backends.warn(path +
                      " is too long for a socket: the command line uses http.listen instead");
        return Done{};
    }
    if (!is_free(io, endpoint)) {
        return Error{
            Next::kRetry, trueup::Code::kConflict,
            "another process serves on " + path + "; stop it, or give this one its own state_dir"};
    }
    local_acceptor.open(endpoint.protocol(), code);
    if (!code) local_acceptor.bind(endpoint, code);
    if (!code) local_inode = inode_of(path);
    // Before it listens: who may connect is decided by the file's mode.
    if (!code) {
        std::error_code refused;
        std::filesystem::permissions(
            path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
            refused);
        code.assign(refused.value(), boost::system::system_category());
    }
    if (!code) local_acceptor.listen(asio::socket_base::max_listen_connections, code);
    if (!code) return Done{};
    Code closed;
    local_acceptor.close(closed);
    return Error{Next::kRetry, trueup::Code::kUnavailable,
                 "cannot listen on " + path + ": " + code.message()};
}

Server::Http::~Http() {
    // Another process may have taken the name over.
    if (!local_acceptor.is_open() || inode_of(settings.socket) != local_inode) return;
    std::error_code ignored;
    std::filesystem::remove(settings.socket, ignored);
}

Result<std::unique_ptr<Server>> Server::start(const ServerSettings& settings, Backends backends) {
    const std::optional<Place> place = place_of(settings.listen);
    if (!place && !settings.listen.empty()) {
        return Error{Next::kStop, trueup::Code::kConfiguration,
                     "http.listen is '" + settings.listen + "'; write it as 127.0.0.1:9464"};
    }
    auto http = std::make_unique<Http>(settings, std::move(backends));
    if (!settings.cert_file.empty()) {
        http->certificate.emplace(settings.cert_file, settings.key_file);
        if (Status read = http->certificate->look(); !read) return read.error();
    }
    if (place) {
        if (Status bound = bind_to(http->acceptor, *place, settings.listen); !bound) {
            return bound.error();
        }
        http->address = place->host + ":" + std::to_string(http->acceptor.local_endpoint().port());
    }
    if (Status bound = http->bind_local(); !bound) return bound.error();
    http->io_thread = std::thread([raw = http.get()] { raw->run(); });
    http->look_thread = std::thread([raw = http.get()] { raw->run_looks(); });
    return std::unique_ptr<Server>(new Server(std::move(http)));
}

}  // namespace trueup::api
