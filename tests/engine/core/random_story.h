// Random stories for the properties of the fold: short lists of small numbers that RapidCheck can
// shrink, played on a JournalScript.
#pragma once

#include "tests/support/graph_script.h"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace trueup::testing {

/// What happens, and three small numbers that say to whom and how.
using Step = std::tuple<int, int, int, int>;
using Story = std::vector<Step>;

enum StepKind : int {
    kPod = 0,
    kStalePod = 3,
    kPodGone = 4,
    kRow = 5,
    kRowGone = 7,
    kProgress = 8,
    kPodsListed = 10,
    kRowsListed = 11,
    kBeginOnly = 12,
    kHole = 13,
    kOwn = 14,
    kFormerOwner = 15,
    kLose = 16,
    kRefill = 17,
    kRepeat = 18,
    kOutcome = 19,
    kJump = 20,
    kQuiet = 21,
    kStepKinds = 22,
};

inline rc::Gen<Story> any_story() {
    return rc::gen::container<Story>(rc::gen::tuple(rc::gen::inRange(0, int{kStepKinds}),
                                                    rc::gen::inRange(0, 4), rc::gen::inRange(0, 3),
                                                    rc::gen::inRange(0, 8)));
}

/// Plays stories. Four subjects, three uids each, one row each. An honest source never says an
/// older word after a newer one, and never lists what it said was gone.
class Storyteller {
  public:
    explicit Storyteller(JournalScript& script, bool honest = false)
        : s_(script), honest_(honest) {}

    void play(const Story& story) {
        s_.all_known();
        for (const Step& step : story) play(step);
        refill();
    }

  private:
    static std::string name(int subject) { return "wrapper-" + std::to_string(subject); }
    static std::string uid(int subject, int life) {
        return "u" + std::to_string(subject) + "-" + std::to_string(life);
    }

    Pod pod_of(int subject, int life, int how) {
        Pod pod;
        pod.name = name(subject);
        pod.uid = uid(subject, life);
        pod.phase = how < 4 ? "Running" : "Failed";
        pod.deleting = how == 1;
        pod.in_scope = how != 2;
        pod.hold = how == 3;
        return pod;
    }

    Row row_of(int subject, int how) {
        static const char* const kStatuses[] = {"running", "running", "starting", "stopping",
                                                "failed",  "running", "running",  "hibernated"};
        Row row;
        row.pk = std::to_string(subject);
        row.name = name(subject);
        row.status = kStatuses[how];
        row.tracked = how != 1;
        row.toast = how == 5;
        row.hold = how == 6;
        return row;
    }

    std::uint64_t fresh(const std::string& object) {
        gone_.erase(object);
        return versions_[object] = ++clock_;
    }
    std::uint64_t gone(const std::string& object) {
        const std::uint64_t version = fresh(object);
        gone_.insert(object);
        return version;
    }
    bool unlistable(const std::string& object) const { return honest_ && gone_.count(object) != 0; }
    std::uint64_t last(const std::string& object) {
        const auto known = versions_.find(object);
        return known == versions_.end() ? fresh(object) : known->second;
    }

    void list_pods(int which, int how) {
        const auto tell = [&] {
            s_.begin("pods", clock_ + static_cast<std::uint64_t>(how % 3) - 1);
            for (int i = 0; i < 12; ++i) {
                if ((which * 7 + i * 5 + how) % 4 == 0) continue;
                Pod pod = pod_of(i / 3, i % 3, 0);
                if (unlistable(pod.uid)) continue;
                pod.version = last(pod.uid);
                pod.listed = true;
                s_.pod(pod);
            }
            s_.end("pods");
            if (how == 6 && !honest_) {  // a word from before the epoch, said after its end
                Pod late = pod_of(which, which % 3, 0);
                late.version = last(late.uid);
                s_.pod(late);
            }
        };
        how % 2 == 0 ? s_.together(tell) : tell();
    }

    void list_rows(int which, int how) {
        const auto tell = [&] {
            s_.begin("rows", clock_ + static_cast<std::uint64_t>(how % 3) - 1);
            for (int i = 0; i < 4; ++i) {
                if ((which + i + how) % 3 == 0) continue;
                Row row = row_of(i, 0);
                if (unlistable("row" + row.pk)) continue;
                row.version = last("row" + row.pk);
                row.listed = true;
                s_.row(row);
            }
            s_.end("rows");
        };
        how % 2 == 0 ? s_.together(tell) : tell();
    }

    void refill() {
        for (const Topic topic : kInputTopics) {
            const Offset folded = s_.meta().last[static_cast<std::size_t>(topic)];
            // One by one: a population counts once its sweep is through, so that at most one epoch
            // may end in a record.
            for (Offset done = folded; done < s_.last_offset(topic); done = next(done)) {
                s_.again(topic, done, next(done));
            }
        }
    }

    void play(const Step& step) {
        const auto [kind, a, b, c] = step;
        const std::string source = b == 0 ? "pods" : "rows";
        ++clock_;
        switch (kind) {
            case kStalePod: {
                if (honest_) return;
                Pod pod = pod_of(a, b, c);
                pod.version = clock_ - std::min<std::uint64_t>(clock_, static_cast<unsigned>(c));
                return s_.pod(pod);
            }
            case kPodGone:
                return s_.pod_gone(name(a), uid(a, b), gone(uid(a, b)));
            case kRow:
            case kRow + 1: {
                Row row = row_of(a, c);
                row.version = fresh("row" + row.pk);
                return s_.row(row);
            }
            case kRowGone:
                return s_.row_gone(name(a), std::to_string(a), gone("row" + std::to_string(a)));
            case kProgress:
            case kProgress + 1:
                s_.at(s_.now() + 1s * (1 + c));
                return s_.progress(source);
            case kPodsListed:
                return list_pods(a, c);
            case kRowsListed:
                return list_rows(a, c);
            case kBeginOnly:
                return s_.begin(source, clock_);
            case kHole:
                s_.hole(source);
                return s_.alive(source);
            case kOwn:
                former_[source] = s_.owner(source);
                s_.own(source);
                return;
            case kFormerOwner:
                std::swap(former_[source], s_.owner(source));
                b == 0 ? s_.pod_gone(name(a), uid(a, 0), ++clock_)
                       : s_.row_gone(name(a), std::to_string(a), ++clock_);
                std::swap(former_[source], s_.owner(source));
                return;
            case kLose:
                return s_.lose_next(1 + b);
            case kRefill:
                return refill();
            case kRepeat:
                return s_.repeat_last();
            case kOutcome:
                if (s_.commands().empty()) return;
                return s_.outcome(s_.commands().back(),
                                  static_cast<OutcomeKind>(1 + (a + b + c) % 5), c % 2 == 0);
            case kJump:
                s_.at(s_.now() + 20s).tick();
                return;
            case kQuiet:
                s_.quiet_until(s_.now() + 40s);
                return;
            default: {
                Pod pod = pod_of(a, b, c);
                pod.version = fresh(pod.uid);
                return s_.pod(pod);
            }
        }
    }

    JournalScript& s_;
    bool honest_;
    std::uint64_t clock_ = 10;
    std::set<std::string> gone_;
    std::map<std::string, std::uint64_t> versions_;
    std::map<std::string, Owner> former_;
};

}  // namespace trueup::testing
