#include "api/source_view.h"

#include <utility>

namespace trueup::api {

namespace {

/// What happened, and until when it holds by itself; the second is empty where only a word ends it.
std::pair<std::string, std::string> story_of(const QuarantineView& quarantine) {
    const std::string figure = std::to_string(quarantine.figure);
    switch (quarantine.kind) {
        case Quarantine::kDrop:
            return {"lost suspiciously many objects at once, of " + figure + " objects",
                    "until it lists them again"};
        case Quarantine::kEmpty:
            return {"has shown " + figure + " objects, but at least " +
                        std::to_string(quarantine.at_least) + " are expected (expect.at_least)",
                    "until it shows that many"};
        case Quarantine::kWrong:
            return {"would make " + figure + " of " + std::to_string(quarantine.subjects) +
                        " subjects wrong with its first list",
                    ""};
        case Quarantine::kRewound:
            return {"went back in time, from " + figure + " objects", ""};
        case Quarantine::kMisread:
        case Quarantine::kNone:
            break;
    }
    return {};
}

}  // namespace

std::string sentence_of(const std::string& source, const QuarantineView& quarantine) {
    if (quarantine.kind == Quarantine::kMisread) {
        return "source " + source + " is read by another configuration (" + quarantine.read_by +
               ") than this engine has (" + quarantine.wanted +
               "): selection, key or fields differ; nothing of it is taken, and nothing is done "
               "because of it; start anew whichever of `trueup connect` and `trueup engine` has "
               "the older file, or is the older build";
    }
    const auto [what, until] = story_of(quarantine);
    if (what.empty()) return {};
    return "source " + source + " " + what + ": nothing destructive is done because of it" +
           (until.empty() ? "" : " " + until) +
           "; if the world is like that, `trueup unquarantine " + source + " -c …` says so";
}

}  // namespace trueup::api
