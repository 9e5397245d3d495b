// The objects that were shown and may need a second look: what is in the selector, and what left it
// and is followed until it is gone. Turns what the server says of an object into facts. Not
// thread-safe.
#pragma once

#include "connectors/kubernetes/kube_object.h"
#include "connectors/kubernetes/settings.h"
#include "connectors/kubernetes/verification.h"
#include "engine/model/fact.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trueup::connectors {

class ObjectCache {
  public:
    explicit ObjectCache(const KubernetesSettings& settings) : settings_(settings) {}

    /// A list begins; `listed` belongs to it until the next one.
    void begin_epoch() { ++epoch_; }
    void listed(const KubeObject& object, std::vector<Fact>& out) { present(object, true, out); }
    /// Was it in the list before this one, or, of what this one has shown already, in this one?
    bool listed_before(const KubeObject& object) const;
    /// Was it shown, and has not gone since? (What has gone is shown by a page that is late.)
    bool knows(const KubeObject& object) const;
    /// ADDED or MODIFIED.
    void changed(const KubeObject& object, std::vector<Fact>& out) { present(object, false, out); }
    /// DELETED: says Remove, or returns what has to be asked first.
    std::optional<Verification> deleted(const KubeObject& object, std::vector<Fact>& out);
    /// A verification was answered. False: the list that lacks the object is not true. It has not
    /// changed since that list, and the selector takes it; without a selector nothing leaves at
    /// all.
    [[nodiscard]] bool found(const Found& found, std::vector<Fact>& out);

    /// What was known at the version of the list that just ended and is not in it. Objects in scope
    /// are left out when more than `max_followed` of them are missing: that is for the engine's
    /// breaker, not for a thousand GETs.
    std::vector<Verification> missing(std::uint64_t as_of);
    /// What left the selector and still existed when last seen.
    std::vector<Verification> out_of_scope() const;

    /// A list of version `as_of` shows this object at a version from before what was known by then:
    /// the server was restored from a backup, whatever its counter shows (S13).
    bool contradicts(const KubeObject& object, std::uint64_t as_of) const;
    /// The same of a verification's answer: the object is there, and from before it left.
    bool contradicts(const Found& found) const;
    /// The server went back in time: no version known so far can be compared.
    void forget_versions();
    std::size_t size() const { return known_.size(); }

  private:
    struct Known {
        std::string name;
        std::string name_space;
        std::string key;  ///< its whole subject key
        std::uint64_t version = 0;
        std::uint64_t epoch = 0;  ///< the last one that listed it
        bool in_scope = true;
        bool told = false;       ///< of `version`; else an event of its leaving is all there was
        std::uint64_t word = 0;  ///< counts what was said of one version: the later word holds
    };
    /// `<prefix><name>`, or `!<source>/<uid>` where the name is too long for a key: so it is seen,
    /// and claims no name.
    std::string subject_of(const KubeObject& object) const;
    void present(const KubeObject& object, bool in_epoch, std::vector<Fact>& out);
    void stays(const Found& found, Known& known, std::vector<Fact>& out);
    using Entries = std::map<std::string, Known, std::less<>>;
    void set_scope(Known& known, bool in_scope);
    void say(Known& known, std::uint64_t version, bool in_scope);
    void forget(Entries::iterator entry);
    void gone(const std::string& uid, std::uint64_t version);
    /// It went since: a page that is late shows it, or a watch that lags.
    bool is_gone(const KubeObject& object) const;
    void bound_out_of_scope();

    const KubernetesSettings& settings_;
    Entries known_;                                           ///< by uid
    std::map<std::string, std::uint64_t, std::less<>> gone_;  ///< at which version; the last ones
    std::deque<std::string> gone_in_order_;
    std::size_t out_of_scope_ = 0;  ///< of them, how many are out of scope
    std::uint64_t epoch_ = 0;
};

}  // namespace trueup::connectors
