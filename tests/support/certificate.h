// Certificates for a test's own TLS.
#pragma once

#include "engine/base/check.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
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

/// An authority of a test, which issues certificates for 127.0.0.1.
class Authority {
  public:
    /// PEM.
    struct Issued {
        std::string cert;
        std::string key;
    };

    explicit Authority(const std::string& name) : key_(EVP_EC_gen("P-256")), cert_(blank(name)) {
        extend(cert_.get(), NID_basic_constraints, "critical,CA:TRUE");
        sign(cert_.get(), key_.get());
    }

    std::string pem() const { return pem_of(cert_.get()); }
    Issued issue() const {
        const Key key(EVP_EC_gen("P-256"));
        const Cert cert = blank("127.0.0.1");
        X509_set_issuer_name(cert.get(), X509_get_subject_name(cert_.get()));
        extend(cert.get(), NID_subject_alt_name, "IP:127.0.0.1");
        sign(cert.get(), key.get());
        const Bio out;
        PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
        return {pem_of(cert.get()), out.text()};
    }

  private:
    template <auto kFree>
    struct Free {
        template <typename Object>
        void operator()(Object* object) const {
            kFree(object);
        }
    };
    using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
    using Cert = std::unique_ptr<X509, Free<X509_free>>;
    struct Bio {
        std::unique_ptr<BIO, Free<BIO_free>> bio{BIO_new(BIO_s_mem())};
        BIO* get() const { return bio.get(); }
        std::string text() const {
            char* bytes = nullptr;
            const long size = BIO_get_mem_data(bio.get(), &bytes);
            return {bytes, static_cast<std::size_t>(size)};
        }
    };

    static std::string pem_of(X509* cert) {
        const Bio out;
        PEM_write_bio_X509(out.get(), cert);
        return out.text();
    }
    static Cert blank(const std::string& name) {
        Cert cert(X509_new());
        X509_set_version(cert.get(), 2);
        ASN1_INTEGER_set(X509_get_serialNumber(cert.get()), 1);
        X509_gmtime_adj(X509_getm_notBefore(cert.get()), -3600);
        X509_gmtime_adj(X509_getm_notAfter(cert.get()), 3600);
        X509_NAME* subject = X509_get_subject_name(cert.get());
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                   reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
        X509_set_issuer_name(cert.get(), subject);
        return cert;
    }
    static void extend(X509* cert, int what, const char* value) {
        X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, what, value);
        TRUEUP_CHECK(extension != nullptr);
        X509_add_ext(cert, extension, -1);
        X509_EXTENSION_free(extension);
    }
    /// The issuer's name is in it already.
    void sign(X509* cert, EVP_PKEY* of) const {
        X509_set_pubkey(cert, of);
        TRUEUP_CHECK(X509_sign(cert, key_.get(), EVP_sha256()) != 0);
    }

    Key key_;
    Cert cert_;
};

}  // namespace trueup::test_support
