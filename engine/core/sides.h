// What a judgement may lean on: whether a source was heard past what it is asked for, and when a
// deadline has passed by the clock that it was written by.
#pragma once

#include "engine/core/evaluate.h"

#include <optional>
#include <span>
#include <string_view>

namespace trueup::core {

/// The open finding of a rule about one object, or nullptr.
const Finding* open_finding(const Subject& subject, RuleNumber rule, std::string_view object_id);

/// When the disagreement about `object_id` was first detected: now, if it is new.
JournalTime first_detected(const Subject& subject, RuleNumber rule, std::string_view object_id,
                           JournalTime now);

/// Is there a reason not to lean on `source` for evidence that was appended at `evidence`? The side
/// must have proven itself past our own last write to it, and past the evidence + skew + `window`,
/// and must not be silent or quarantined (design §4.5, §4.6). nullopt: it is fresh. Our own write
/// is named first, since it explains a view that contradicts itself.
///
/// A table that is filled from elsewhere (`as_of`) proves no more than that its last complete
/// filling had begun: whoever says when that was must be heard, the table past that word, and it
/// must not be older than a source may be silent.
struct Doubt {
    Reason reason;
    Wait wait;
};
std::optional<Doubt> doubt(const Judgement& on, SourceId source, BrokerTime evidence,
                           Millis window);

/// Whom a rule leans on for what it found: who must have proven itself past this, and so much more.
struct Leaning {
    SourceId source;
    BrokerTime past{};
    Millis window{0};
};

/// What still holds a rule back from acting on `about`, in the order that explains it best: our own
/// last write that is not in view (no news, so no finding either), the rule's grace, the first
/// source that was not heard. nullopt: nothing does.
std::optional<Verdict> not_yet(const Judgement& on, const Facet& about,
                               std::span<const Leaning> leanings);

/// What to say until the source's own clock has passed `deadline`; nullopt: it has.
std::optional<Verdict> not_due(const Judgement& on, SourceId source, SourceTime deadline);

}  // namespace trueup::core
