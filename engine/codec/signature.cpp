#include "engine/codec/signature.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/codec/wire.h"
#include "engine/codec/wire_reader.h"
#include "engine/codec/wire_writer.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <algorithm>
#include <array>
#include <memory>

namespace trueup::codec {

namespace {

constexpr std::size_t kMacSize = 32;
using Mac = std::array<unsigned char, kMacSize>;

/// HMAC with SHA-256, for one thread. To look up the algorithms takes ten times as long as a MAC,
/// so that is done once.
class Hmac {
  public:
    Hmac() {
        EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
        TRUEUP_CHECK(mac != nullptr);
        context_.reset(EVP_MAC_CTX_new(mac));
        EVP_MAC_free(mac);  // the context has it, too
        std::string digest = "SHA256";
        const std::array<OSSL_PARAM, 2> params{
            OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), digest.size()),
            OSSL_PARAM_construct_end()};
        TRUEUP_CHECK(context_ && EVP_MAC_CTX_set_params(context_.get(), params.data()) == 1);
    }

    Mac of(std::string_view secret, std::string_view bytes) {
        Mac mac{};
        std::size_t size = 0;
        const bool made = EVP_MAC_init(context_.get(), as_bytes(secret), secret.size(), nullptr) &&
                          EVP_MAC_update(context_.get(), as_bytes(bytes), bytes.size()) &&
                          EVP_MAC_final(context_.get(), mac.data(), &size, mac.size());
        TRUEUP_CHECK(made && size == kMacSize);
        return mac;
    }

  private:
    struct Free {
        void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
    };
    static const unsigned char* as_bytes(std::string_view text) {
        return reinterpret_cast<const unsigned char*>(text.data());
    }
    std::unique_ptr<EVP_MAC_CTX, Free> context_;
};

Mac mac_of(const Key& key, std::string_view bytes) {
    thread_local Hmac hmac;
    return hmac.of(key.secret, bytes);
}

/// A name has no zero byte, so that no two pairs are one text. A log without a name, in its
/// process's own state folder, has keys of its own.
std::string text_for(const std::string& log, std::string_view bytes) {
    if (log.empty()) return std::string(bytes);
    std::string text;
    text.reserve(log.size() + 1 + bytes.size());
    return text.append(log).append(1, '\0').append(bytes);
}

void append(std::string& message, std::uint32_t field, std::string_view bytes) {
    std::array<char, kMaxTag + kMaxVarint> head{};
    WireWriter writer(head.data());
    writer.head(field, bytes.size());
    message.append(head.data(), writer.at()).append(bytes);
}

/// What stands before the MAC's field, the key's id in it, and the MAC; empty where the message
/// does not end with a signature.
struct Parts {
    std::string_view covered;
    std::string_view key_id;
    std::string_view mac;
};
Parts take_apart(SignatureFields fields, std::string_view message) {
    Parts parts;
    WireReader reader(message);
    while (!reader.done()) {
        const std::size_t at = message.size() - reader.left();
        std::uint32_t tag = 0;
        if (!reader.tag(tag)) return {};
        if (tag == bytes_tag(fields.key_id)) {
            if (!reader.bytes(parts.key_id)) return {};
        } else if (tag == bytes_tag(fields.mac)) {
            if (!reader.bytes(parts.mac) || !reader.done()) return {};
            parts.covered = message.substr(0, at);
        } else if (!reader.skip(tag)) {
            return {};
        }
    }
    return parts;
}

}  // namespace

void KeyRing::sign(SignatureFields fields, std::string& message) const {
    const auto keys = keys_.get();
    if (keys->empty()) return;
    append(message, fields.key_id, keys->front().id);
    const Mac mac = mac_of(keys->front(), text_for(log_, message));
    append(message, fields.mac, {reinterpret_cast<const char*>(mac.data()), mac.size()});
}

bool KeyRing::authentic(SignatureFields fields, std::string_view message) const {
    if (!TRUEUP_GUARD("signature")) return true;
    const Parts parts = take_apart(fields, message);
    const auto keys = keys_.get();
    const auto key = std::find_if(keys->begin(), keys->end(),
                                  [&parts](const Key& one) { return one.id == parts.key_id; });
    if (key == keys->end() || parts.mac.size() != kMacSize) return false;
    const Mac expected = mac_of(*key, text_for(log_, parts.covered));
    return CRYPTO_memcmp(expected.data(), parts.mac.data(), kMacSize) == 0;
}

std::string KeyRing::hash(std::string_view text) const {
    constexpr std::size_t kKept = 16;  // bytes: no two of any number of texts that we will see meet
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto keys = keys_.get();
    TRUEUP_CHECK(!keys->empty());
    const Mac mac = mac_of(keys->front(), text);
    std::string hex;
    for (std::size_t i = 0; i < kKept; ++i) {
        hex += kDigits[mac[i] >> 4U];
        hex += kDigits[mac[i] & 15U];
    }
    return hex;
}

}  // namespace trueup::codec
