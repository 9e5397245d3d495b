// Who said it: HMAC-SHA256 over a request or a command (design §4.15). Whoever may write `requests`
// approves deletions, whoever may write `commands` deletes pods; so both are believed by signature.
//
// A signature is the last two fields of the message: the key's id, and the MAC over the name of the
// log that it is for, a zero byte, and every byte before the MAC's own field. What is checked is
// what travelled; nothing is encoded again. What was signed for one log is nobody's word in another
// one, though both have the same keys: begun anew under another prefix, or a copy of the
// installation.
#pragma once

#include "engine/base/current.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trueup::codec {

/// One secret and the name that messages call it by.
struct Key {
    std::string id;
    std::string secret;  ///< 16 bytes at the least
};

/// The numbers of the two fields in a message.
struct SignatureFields {
    std::uint32_t key_id;
    std::uint32_t mac;
};
inline constexpr SignatureFields kRequestSignature{7, 8};
inline constexpr SignatureFields kCommandSignature{13, 14};

/// The keys of one role. The first one signs; all of them are believed, so that keys can be
/// changed one after the other. Without keys it signs nothing and believes nobody. Copies are the
/// same ring: what `become` gives one, all have. Thread-safe.
class KeyRing {
  public:
    KeyRing() = default;
    explicit KeyRing(std::vector<Key> keys) : keys_(std::move(keys)) {}

    /// The same ring, for messages of the log of this name (ports::Log::name) and no other.
    KeyRing for_log(std::string name) const {
        KeyRing ring = *this;
        ring.log_ = std::move(name);
        return ring;
    }

    /// Has the other ring's keys from now on, in place of its own.
    void become(const KeyRing& other) { keys_.set(other.keys_.get()); }

    /// Appends the signature to an encoded message.
    void sign(SignatureFields fields, std::string& message) const;
    /// Is the message signed with one of these keys, and as it was then?
    bool authentic(SignatureFields fields, std::string_view message) const;
    /// 32 hex digits of HMAC-SHA256 over the text, by the first key: equal texts have equal ones,
    /// and without the key nobody can try texts out. Needs a key.
    std::string hash(std::string_view text) const;
    bool empty() const { return keys_.get()->empty(); }

  private:
    Current<std::vector<Key>> keys_;
    std::string log_;
};

}  // namespace trueup::codec
