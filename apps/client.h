// How a command of this machine reaches a running engine: over the Unix socket in its state folder,
// or over HTTP.
#pragma once

#include "engine/base/result.h"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace trueup::apps {

/// Where the engine is, and as whom to ask it. Without config, state_dir and url: the environment
/// variable TRUEUP_CONFIG names the configuration.
struct EngineAddress {
    std::string config;      ///< its configuration file; names the state folder
    std::string state_dir;   ///< or the folder itself
    std::string url;         ///< or `http://host:port`, or https, with ...
    std::string token_file;  ///< ... a file whose first word is the token
    std::string ca_file;     ///< of https: whom to believe; empty: whom the system believes
};

/// One engine. Copies are the same one. Errors are one sentence for the operator.
class EngineClient {
  public:
    using Json = nlohmann::ordered_json;
    using Params = std::vector<std::pair<std::string, std::string>>;
    struct Reply {
        long status = 0;
        std::string body;
    };
    struct Address {
        std::string url;
        std::string socket;  ///< path of its Unix socket; empty: over TCP
        std::string token;
        std::string ca_file;  ///< empty: what the system trusts
        /// It is the one of this machine, whose certificate need not name the loopback address.
        bool local = false;
    };

    /// Asks nothing yet.
    static Result<EngineClient> find(const EngineAddress& where);
    /// The answer's object; an answer that is no success is an error with what the engine says.
    Result<Json> get(std::string path, const Params& params = {}) const;
    Result<Json> post(const std::string& path, const Json& body) const;

  private:
    explicit EngineClient(Address address) : address_(std::move(address)) {}
    Result<Json> read(const Result<Reply>& reply) const;

    Address address_;
};

/// The Unix socket of the engine that has this state folder.
std::string socket_of(const std::string& state_dir);

/// Tells scripts, and commands where there is no socket, where the engine of this state folder
/// answers, or that it does not (empty); with TLS as an https address, and below it the certificate
/// that it shows.
void write_address(const std::string& state_dir, const std::string& address,
                   const std::string& certificate = {});

}  // namespace trueup::apps
