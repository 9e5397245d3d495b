#include "connectors/kubernetes/object_cache.h"

#include "engine/base/guard.h"
#include "engine/base/hash.h"
#include "engine/model/subject_key.h"

#include <algorithm>
#include <utility>

namespace trueup::connectors {

namespace {

constexpr std::size_t kMostGone = 4'096;  // one that comes back is enough to tell

Fact fact_of(Fact::Kind kind, const std::string& uid, std::string key, std::uint64_t version) {
    Fact fact;
    fact.kind = kind;
    fact.event_id = std::to_string(version);
    fact.object_id = uid;
    fact.subject_key = std::move(key);
    fact.version = Version{version, 0};
    return fact;
}

}  // namespace

std::string ObjectCache::subject_of(const KubeObject& object) const {
    const bool usable = settings_.subject_prefix.size() + object.key.size() <= kMaxSubjectKey;
    if (usable && !object.key.empty()) return settings_.subject_prefix + object.key;
    const std::string prefix = nameless_prefix(settings_.subject_prefix, settings_.source_name);
    const bool fits = prefix.size() + object.uid.size() <= kMaxSubjectKey;
    return prefix + (fits ? object.uid : to_hex(hash128(object.uid)));
}

void ObjectCache::present(const KubeObject& object, bool in_epoch, std::vector<Fact>& out) {
    if (is_gone(object) && TRUEUP_GUARD("kubernetes_gone_stays_gone")) return;
    std::string key = subject_of(object);
    std::uint64_t word = 0;
    Known& known = known_[object.uid];
    if (in_epoch) known.epoch = epoch_;
    if (object.version >= known.version) {
        // A moved key: the facet under the old one goes, at the version that moved it.
        if (!known.key.empty() && known.key != key) {
            out.push_back(fact_of(Fact::Kind::kRemove, object.uid, known.key, object.version));
        }
        known.name = object.name;
        known.name_space = object.name_space;
        known.key = key;
        say(known, object.version, true);
        word = known.word;
    }
    Fact fact = fact_of(Fact::Kind::kUpsert, object.uid, std::move(key), object.version);
    fact.version.lo = word;
    fact.in_epoch = in_epoch;
    fact.object = object.encoded;
    out.push_back(std::move(fact));
}

std::optional<Verification> ObjectCache::deleted(const KubeObject& object, std::vector<Fact>& out) {
    const auto known = known_.find(object.uid);
    // Without a selector nothing leaves, and an object that was ending had nothing left to live
    // for: its DELETED means what it says (K2).
    const bool may_have_left = !settings_.label_selector.empty() && !object.ending;
    if (!may_have_left || !TRUEUP_GUARD("kubernetes_may_have_left")) {
        std::string key = known == known_.end() ? subject_of(object) : known->second.key;
        out.push_back(fact_of(Fact::Kind::kRemove, object.uid, std::move(key), object.version));
        if (known != known_.end()) forget(known);
        gone(object.uid, object.version);
        return std::nullopt;
    }
    if (known == known_.end()) {  // an answer needs the key that only this event carries
        Known entry{object.name, object.name_space, subject_of(object), object.version, epoch_,
                    true};
        known_.emplace(object.uid, std::move(entry));
    }
    return Verification{object.uid, object.name, object.name_space, object.version, 0};
}

bool ObjectCache::found(const Found& found, std::vector<Fact>& out) {
    const Verification& asked = found.verification;
    const auto entry = known_.find(asked.uid);
    if (entry == known_.end()) return true;
    if (found.exists) {
        // Asked for a list's sake alone: no event said that it left.
        const bool lacked = asked.closes_at != 0 && asked.left_at == 0;
        // Whatever labels this answer shows: at that version the selector took it.
        const bool as_shown =
            entry->second.in_scope && found.object.version == entry->second.version;
        const bool selected = found.object.selected || as_shown;
        const bool listed = selected && found.object.version <= asked.closes_at;
        if (lacked && (listed || settings_.label_selector.empty())) return false;
        stays(found, entry->second, out);
        return true;
    }
    // Nothing newer than the last version seen exists of this uid, so the one after it is as good
    // as the deletion's own, which nobody told us. If all that we know is the deletion, its own is
    // known, and no version may be ahead of the server's.
    const Known& known = entry->second;
    const std::uint64_t version =
        std::max({asked.left_at, asked.closes_at, known.version + (known.told ? 1 : 0)});
    out.push_back(fact_of(Fact::Kind::kRemove, asked.uid, entry->second.key, version));
    forget(entry);
    gone(asked.uid, version);
    return true;
}

void ObjectCache::stays(const Found& found, Known& known, std::vector<Fact>& out) {
    const Verification& asked = found.verification;
    // The version at which it is known to be out of the selector: that of its leaving, or of the
    // list that lacks it. A newer version of the object itself may already be back in scope, which
    // the stream then tells under that version.
    std::uint64_t version = known.version;
    if (asked.left_at != 0) version = asked.left_at;
    if (asked.left_at == 0 && asked.closes_at != 0 && known.in_scope) {
        version = std::max(known.version, std::min(found.object.version, asked.closes_at));
    }
    if (version < known.version) return;  // the stream knows better
    say(known, version, false);
    const bool in_epoch = asked.closes_at != 0;
    if (in_epoch) known.epoch = epoch_;
    if (asked.left_at != 0 || in_epoch) {
        Fact fact = fact_of(Fact::Kind::kUpsert, asked.uid, known.key, version);
        fact.version.lo = known.word;
        fact.in_epoch = in_epoch;
        fact.object = found.object.encoded;
        out.push_back(std::move(fact));
    }
    bound_out_of_scope();
}

std::vector<Verification> ObjectCache::missing(std::uint64_t as_of) {
    std::vector<Verification> left;
    std::vector<Verification> unlisted;
    for (const auto& [uid, known] : known_) {
        if (known.epoch == epoch_ || known.version > as_of) continue;
        (known.in_scope ? unlisted : left)
            .push_back(Verification{uid, known.name, known.name_space, 0, as_of});
    }
    // Those are forgotten: the sweep takes them for gone, and the engine's breaker stops at so
    // many.
    if (unlisted.size() > settings_.max_followed) {
        for (const Verification& verification : unlisted) known_.erase(verification.uid);
        return left;
    }
    left.insert(left.end(), unlisted.begin(), unlisted.end());
    return left;
}

std::vector<Verification> ObjectCache::out_of_scope() const {
    std::vector<Verification> found;
    for (const auto& [uid, known] : known_) {
        if (!known.in_scope) found.push_back(Verification{uid, known.name, known.name_space, 0, 0});
    }
    return found;
}

bool ObjectCache::listed_before(const KubeObject& object) const {
    const auto known = known_.find(object.uid);
    return known != known_.end() && known->second.epoch + 1 >= epoch_;
}

bool ObjectCache::knows(const KubeObject& object) const {
    return known_.contains(object.uid) || is_gone(object);
}

bool ObjectCache::contradicts(const KubeObject& object, std::uint64_t as_of) const {
    if (!TRUEUP_GUARD("kubernetes_history_is_one")) return false;
    const auto known = known_.find(object.uid);
    // What was learned after the list's version may be newer than the list; only what it should
    // have had contradicts it.
    if (known != known_.end()) {
        return object.version < known->second.version && known->second.version <= as_of;
    }
    const auto gone = gone_.find(object.uid);
    return gone != gone_.end() && gone->second <= as_of;
}

bool ObjectCache::contradicts(const Found& found) const {
    return found.exists && found.object.version < found.verification.left_at &&
           TRUEUP_GUARD("kubernetes_history_is_one");
}

bool ObjectCache::is_gone(const KubeObject& object) const {
    const auto gone = gone_.find(object.uid);
    return gone != gone_.end() && object.version <= gone->second;
}

void ObjectCache::gone(const std::string& uid, std::uint64_t version) {
    if (gone_.insert_or_assign(uid, version).second) gone_in_order_.push_back(uid);
    if (gone_in_order_.size() <= kMostGone) return;
    gone_.erase(gone_in_order_.front());
    gone_in_order_.pop_front();
}

void ObjectCache::forget_versions() {
    gone_.clear();
    gone_in_order_.clear();
    // Names and keys stay: what the restored server lacks still has to be asked for.
    for (auto& [uid, known] : known_) {
        known.version = 0;
        set_scope(known, true);
    }
}

/// A list that was not true may have said of a version that it is out of scope, and the next one
/// that it is not: the later word must be the newer one.
void ObjectCache::say(Known& known, std::uint64_t version, bool in_scope) {
    if (version != known.version) {
        known.word = 0;
    } else if (in_scope != known.in_scope) {
        ++known.word;
    }
    known.version = version;
    known.told = true;
    set_scope(known, in_scope);
}

void ObjectCache::set_scope(Known& known, bool in_scope) {
    if (known.in_scope == in_scope) return;
    known.in_scope = in_scope;
    if (in_scope) {
        --out_of_scope_;
    } else {
        ++out_of_scope_;
    }
}

void ObjectCache::forget(Entries::iterator entry) {
    set_scope(entry->second, true);
    known_.erase(entry);
}

void ObjectCache::bound_out_of_scope() {
    if (out_of_scope_ <= settings_.max_followed) return;
    // The one that has not changed for longest. The next full list sweeps what is followed no more.
    auto oldest = known_.end();
    for (auto entry = known_.begin(); entry != known_.end(); ++entry) {
        if (entry->second.in_scope) continue;
        if (oldest == known_.end() || entry->second.version < oldest->second.version) {
            oldest = entry;
        }
    }
    if (oldest != known_.end()) forget(oldest);
}

}  // namespace trueup::connectors
