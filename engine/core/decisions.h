// Decisions without a command, for the sources of an evaluation (core/evaluation.h). Not for other
// users.
#pragma once

#include "engine/core/evaluate.h"

namespace trueup::core {

inline Decision abstain(Reason why, Wait wait = {}) {
    Decision decision;
    decision.kind = Verdict::Kind::kAbstain;
    decision.reason = why;
    decision.wait = wait;
    return decision;
}

inline Decision waiting(Reason why, const Facet& about, Wait wait = {}) {
    Decision decision = abstain(why, wait);
    decision.kind = Verdict::Kind::kWaiting;
    decision.about = &about;
    return decision;
}

/// What a verdict without a command says of `about`.
inline Decision as_said(const Verdict& verdict, const Facet& about) {
    Decision decision;
    decision.kind = verdict.kind;
    decision.reason = verdict.reason;
    decision.wait = verdict.wait;
    if (verdict.kind == Verdict::Kind::kWaiting) decision.about = &about;
    return decision;
}

}  // namespace trueup::core
