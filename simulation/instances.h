// What oracles take for granted about pods and rows. Internal to simulation/.
#pragma once

#include "simulation/history.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace trueup::simulation {

/// What nobody writes who wants it to be held; whether it is so then is the product's to say, the
/// same everywhere.
inline bool says_no(std::string_view text) {
    constexpr std::array<std::string_view, 8> kNo = {"",    "f",  "false", "False",
                                                     "off", "no", "n",     "0"};
    return std::find(kNo.begin(), kNo.end(), text) != kNo.end();
}

inline bool held(const sandbox::Pod& pod) {
    for (const sandbox::Labels* some : {&pod.labels, &pod.annotations}) {
        const auto found = some->find("trueup.io/hold");
        if (found != some->end() && !says_no(found->second)) return true;
    }
    return false;
}

inline constexpr const char* kHoldColumn = "held_by";
inline bool held(const History::RowView& row) { return !says_no(row.view(kHoldColumn)); }

/// No pod can be called that, so that nobody knows which one is meant.
inline bool odd_name(std::string_view name) {
    constexpr std::size_t kLongest = 253;
    return name.empty() || name.size() > kLongest || name.find('/') != std::string_view::npos;
}

/// The annotation that other policies may read, and write.
inline constexpr const char* kNote = "example.com/note";

inline bool selected(const sandbox::Pod& pod) { return pod.labels.count("app") != 0; }

/// Where there are two clusters (Plan::clusters), the source of those of the second one, which is a
/// namespace of the same API server here. A name is in one of them only.
inline constexpr const char* kWest = "west";
inline constexpr const char* kWestSpace = "graph-west";

/// What an executor's look at a pod is called: in which cluster, of which name.
inline std::string pod_look(std::string_view source, std::string_view name) {
    return std::string(source == kWest ? "west/" : "pod/").append(name);
}

inline bool of_pods(std::string_view source) { return source == "pods" || source == kWest; }

/// Does this source of pods show it?
inline bool selected_by(const sandbox::Pod& pod, std::string_view source) {
    return selected(pod) && (pod.name_space == kWestSpace) == (source == kWest);
}

inline bool wants_pod(const History::RowView& row) {
    const std::string status = row.text("status");
    return status == "starting" || status == "running";
}

/// What a row says whose pod is to be created (Plan::creates), by which rule, and after how long at
/// least: its grace, less two leaps of the broker's clock, of which each counts 10 s.
inline constexpr const char* kWanted = "wanted";
inline constexpr const char* kWantedRule = "wanted_pod";
inline constexpr Millis kWantedGrace{40'000};
inline constexpr Millis kWantedFor{20'000};
/// Where what is created says for which slug.
inline constexpr const char* kMadeFor = "example.com/of";
/// Where it says by which command.
inline constexpr const char* kMadeBy = "trueup.io/command";

inline bool wanted(const History::RowView& row) { return row.view("status") == kWanted; }

/// What a pod says in an annotation; empty: nothing.
inline std::string noted(const sandbox::Pod& pod, const char* annotation) {
    const auto found = pod.annotations.find(annotation);
    return found == pod.annotations.end() ? std::string() : found->second;
}

/// What is called the target of a creation: there is none of its name yet.
inline std::string made_target(std::string_view name) { return std::string("made/").append(name); }

/// One version of a target, under which a write on it is remembered.
inline std::string sent_key(const std::string& target, const std::string& version) {
    return target + "@" + version;
}

}  // namespace trueup::simulation
