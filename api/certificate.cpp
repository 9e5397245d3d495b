// Reading the certificate: what of its files the server takes, and what is said of one that it does
// not take.
#include "api/certificate.h"

#include "engine/ports/private_file.h"

#include <boost/asio/buffer.hpp>

#include <system_error>

namespace trueup::api {

namespace {

using Code = boost::system::error_code;

Error flaw(const std::string& what, const char* wanted, const Code& code) {
    return Error{Next::kStop, trueup::Code::kConfiguration,
                 what + " cannot be used (" + code.message() + "); it takes " + wanted +
                     " that this process may read"};
}

}  // namespace

Status Certificate::look() {
    const auto times = times_of_files();
    if (times == times_) return Done{};
    const Result<std::string> key = ports::read_private_file(key_file_);
    if (!key) {
        return Error{Next::kStop, trueup::Code::kConfiguration,
                     "http.tls.key_file: " + key.error().what};
    }
    Code wrong;
    auto fresh = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
    SSL_CTX_set_min_proto_version(fresh->native_handle(), TLS1_2_VERSION);
    SSL_CTX_set_options(fresh->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // OpenSSL would ask the terminal, and wait there.
    bool locked = false;
    fresh->set_password_callback([&locked](auto, auto) {
        locked = true;
        return std::string();
    });
    fresh->use_certificate_chain_file(cert_file_, wrong);
    if (wrong) return flaw("http.tls.cert_file " + cert_file_, "a PEM certificate", wrong);
    fresh->use_private_key(asio::buffer(*key), asio::ssl::context::pem, wrong);
    if (wrong && locked) {
        return Error{Next::kStop, trueup::Code::kConfiguration,
                     "http.tls.key_file " + key_file_ +
                         " is encrypted with a password, which Trueup cannot ask for; remove "
                         "it: openssl pkey -in FILE -out OTHER"};
    }
    if (wrong) {
        return flaw("http.tls.key_file " + key_file_, "the PEM key of the certificate", wrong);
    }
    fresh->set_password_callback([](auto, auto) { return std::string(); });
    context_ = std::move(fresh);
    // Not before: a chmod that mends a file does not change its time.
    times_ = times;
    return Done{};
}

Certificate::Times Certificate::times_of_files() const {
    std::error_code gone;  // min() then: another time than before
    return {std::filesystem::last_write_time(cert_file_, gone),
            std::filesystem::last_write_time(key_file_, gone)};
}

}  // namespace trueup::api
