// How rules look at a subject: by sides. A side is everything that one source says of the subject,
// and what its silence means. Shared by all rules of all policies.
#pragma once

#include "engine/core/policy.h"
#include "engine/model/subject.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>

namespace trueup::core {

/// The present facets of one source, as a walk over the subject's: every judgement asks for them,
/// so that they are not worth a list of their own.
class PresentFacets {
  public:
    class Iterator {
      public:
        Iterator(const Facet* at, const Facet* end, SourceId source)
            : at_(at), end_(end), source_(source) {
            pass();
        }
        const Facet* operator*() const { return at_; }
        Iterator& operator++() {
            ++at_;
            pass();
            return *this;
        }
        bool operator==(const Iterator& other) const { return at_ == other.at_; }

      private:
        void pass() {
            while (at_ != end_ && (at_->source != source_ || !at_->present())) ++at_;
        }
        const Facet* at_;
        const Facet* end_;
        SourceId source_;
    };

    PresentFacets(const Subject& subject, SourceId source)
        : first_(subject.facets.data(), subject.facets.data() + subject.facets.size(), source),
          last_(subject.facets.data() + subject.facets.size(),
                subject.facets.data() + subject.facets.size(), source) {}
    Iterator begin() const { return first_; }
    Iterator end() const { return last_; }
    bool empty() const { return first_ == last_; }
    std::size_t size() const {
        std::size_t count = 0;
        for (Iterator i = first_; !(i == last_); ++i) ++count;
        return count;
    }
    const Facet* front() const { return *first_; }

  private:
    Iterator first_;
    Iterator last_;
};

/// What one source says of one subject (design §4.1).
///
/// `absent()` is knowledge: every facet has a proof of absence, or there is none and the source
/// listed everything that it has. `unknown()` is neither present nor absent; no rule may act on it.
class Side {
  public:
    Side(const Subject& subject, const References& references, SourceId source);

    const SourceState& source() const { return *source_; }
    const PresentFacets& present() const { return present_; }
    bool absent() const { return present_.empty() && proven_; }
    bool unknown() const { return present_.empty() && !proven_; }

  private:
    const SourceState* source_;
    PresentFacets present_;
    bool proven_;
};

/// The open finding of a rule about one object, or nullptr.
const Finding* open_finding(const Subject& subject, std::uint8_t rule, std::string_view object_id);

/// When the disagreement about `object_id` was first detected: now, if it is new.
JournalTime first_detected(const Subject& subject, std::uint8_t rule, std::string_view object_id,
                           JournalTime now);

/// Is there a reason not to lean on `source` for evidence that was appended at `evidence`? The side
/// must have proven itself past our own last write to it, and past the evidence + skew + `window`,
/// and must not be silent or quarantined (design §4.5, §4.6). nullopt: it is fresh. Our own write
/// is named first, since it explains a view that contradicts itself.
struct Doubt {
    Reason reason;
    Wait wait;
};
std::optional<Doubt> doubt(const Subject& subject, const References& references,
                           const Settings& settings, SourceId source, BrokerTime evidence,
                           Millis window);

/// What is said of `object_id` as long as one of these sources cannot be leaned on; nullopt: all of
/// them can. Our own last write that is not in view is no news, so it makes no finding.
std::optional<Verdict> unheard(const Subject& subject, const References& references,
                               const Settings& settings, std::initializer_list<SourceId> sources,
                               std::string_view object_id);

/// Whom a rule leans on for what it found: who must have proven itself past this, and so much more.
struct Leaning {
    SourceId source;
    BrokerTime past{};
    Millis window{0};
};

/// What still holds a rule back from acting on `about`, in the order that explains it best: our own
/// last write that is not in view (no news, so no finding either), the rule's grace, the first
/// source that was not heard. nullopt: nothing does.
std::optional<Verdict> not_yet(const Subject& subject, const References& references,
                               const Settings& settings, std::uint8_t self, JournalTime now,
                               const Facet& about, std::span<const Leaning> leanings);

/// Something that a rule found, and who must have been heard before it may act on it.
struct Disagreement {
    const Facet& about;        ///< its source is the one that would be written
    BrokerTime heard{};        ///< that source must have proven itself past this ...
    SourceId other;            ///< ... and this other one
    BrokerTime other_heard{};  ///< past this
    Millis window{0};          ///< and so much more
};

/// The same of one other source: its own side comes first.
std::optional<Verdict> not_yet(const Subject& subject, const References& references,
                               const Settings& settings, std::uint8_t self, JournalTime now,
                               const Disagreement& found);

/// What to say until the source's own clock has passed `deadline`; nullopt: it has.
std::optional<Verdict> not_due(const Subject& subject, const References& references,
                               const Settings& settings, SourceId source, SourceTime deadline);

}  // namespace trueup::core
