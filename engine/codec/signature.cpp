#include "engine/codec/signature.h"

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/codec/wire.h"
#include "engine/codec/wire_reader.h"
#include "engine/codec/wire_writer.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <limits>

namespace trueup::codec {

namespace {

constexpr std::size_t kMacSize = 32;
using Mac = std::array<unsigned char, kMacSize>;

Mac mac_of(const Key& key, std::string_view bytes) {
    Mac mac{};
    unsigned int size = 0;
    TRUEUP_CHECK(key.secret.size() <= std::numeric_limits<int>::max());
    const unsigned char* made =
        HMAC(EVP_sha256(), key.secret.data(), static_cast<int>(key.secret.size()),
             reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), mac.data(), &size);
    TRUEUP_CHECK(made != nullptr && size == kMacSize);
    return mac;
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
