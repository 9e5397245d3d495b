// The certificate of the server, which is read again when its files change. For the files of this
// folder only.
#pragma once

#include "api/asio.h"
#include "engine/base/result.h"

#include <boost/asio/ssl/context.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace trueup::api {

/// The certificate, as its files are now.
class Certificate {
  public:
    Certificate(std::string cert_file, std::string key_file)
        : cert_file_(std::move(cert_file)), key_file_(std::move(key_file)) {}

    /// Reads the files if they changed. The error is one sentence; what was read before stays.
    Status look();
    asio::ssl::context& context() { return *context_; }

  private:
    using Times = std::pair<std::filesystem::file_time_type, std::filesystem::file_time_type>;
    Times times_of_files() const;

    std::string cert_file_;
    std::string key_file_;
    std::optional<Times> times_;
    std::shared_ptr<asio::ssl::context> context_;
};

}  // namespace trueup::api
