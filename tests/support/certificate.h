// A certificate for a test's own TLS.
#pragma once

#include "engine/base/check.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <string>

namespace trueup::test_support {

/// Writes key.pem (0600) and cert.pem: a key, and a certificate of that name, that it signed
/// itself. `password`: locks the key with it.
inline void write_certificate(const std::string& folder, const std::string& name,
                              const char* password = nullptr) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                  EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> cert(X509_new(), X509_free);
    X509_set_version(cert.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(cert.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(cert.get()), 3600);
    X509_set_pubkey(cert.get(), key.get());
    X509_NAME* subject = X509_get_subject_name(cert.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(cert.get(), subject);
    X509_sign(cert.get(), key.get(), EVP_sha256());
    const auto write = [&](const std::string& file, auto put) {
        FILE* out = std::fopen((folder + file).c_str(), "w");
        TRUEUP_CHECK(out != nullptr && fchmod(fileno(out), 0600) == 0);
        put(out);
        std::fclose(out);
    };
    write("/cert.pem", [&](FILE* out) { PEM_write_X509(out, cert.get()); });
    write("/key.pem", [&](FILE* out) {
        PEM_write_PrivateKey(out, key.get(), password != nullptr ? EVP_aes_256_cbc() : nullptr,
                             nullptr, 0, nullptr, const_cast<char*>(password));
    });
}

}  // namespace trueup::test_support
