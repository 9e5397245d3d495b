#include "engine/ports/rewind.h"

namespace trueup::ports {

void Rewind::happened() {
    restart();
    due_ = true;
}

void Rewind::tell(std::vector<Fact>& facts, std::size_t first) {
    for (std::size_t i = first; i < facts.size(); ++i) {
        Fact& fact = facts[i];
        switch (fact.kind) {
            case Fact::Kind::kSnapshotBegin:
                fact.rewound = said_ = due_;
                break;
            case Fact::Kind::kSnapshotEnd:
                whole_ = whole_ || said_;
                break;
            case Fact::Kind::kMarker:
                marked_ = whole_;
                break;
            default:
                break;
        }
    }
}

void Rewind::marker_appended() {
    if (!marked_) return;
    restart();
    due_ = false;
}

}  // namespace trueup::ports
