#include "apps/config/reading.h"
#include "apps/config/source_types.h"
#include "apps/config/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace trueup::config {

namespace {

/// A query proves progress whenever it is asked.
void read_pace(Section& section, SourceConfig& source) {
    if (source.only_read()) {
        source.idle = Millis(30'000);
        source.active = Millis(5'000);
    }
    Section heartbeat = section.section("heartbeat");
    source.idle = heartbeat.duration("idle", source.idle);
    source.active = heartbeat.duration("active", std::min(source.active, source.idle));
    if (source.active <= Millis(0)) {
        heartbeat.problem("active", "is 0s; write at least 500ms, as in 2s");
    } else if (source.active > source.idle) {
        heartbeat.problem("active",
                          fmt::format("{} is longer than idle {}; write at most that",
                                      duration_text(source.active), duration_text(source.idle)));
    }
    heartbeat.finish();
    source.relist_every = section.duration("relist_every", source.relist_every);
    if (source.relist_every <= Millis(0)) {
        section.problem("relist_every",
                        "is 0s; write how often the source is listed again, as in 6h");
    }
}

void read_expectation(Section expect, SourceConfig& source) {
    source.at_least = expect.count("at_least", source.at_least);
    expect.finish();
}

/// The section of the one type that it has.
void read_world(Section& section, const std::string& folder, SourceConfig& source) {
    const SourceType* found = nullptr;
    std::string all;
    for (const SourceType* type : kSourceTypes) {
        all += fmt::format("{}{}: {{...}}", all.empty() ? "" : " or ", type->key);
        Section world = section.section(type->key);
        if (!section.has(type->key)) continue;
        if (found != nullptr) {
            section.problem(type->key, fmt::format("and {} exclude each other; remove one of the "
                                                   "two",
                                                   found->key));
            continue;
        }
        found = type;
        type->read(std::move(world), folder, source);
    }
    if (found == nullptr) section.require(kSourceTypes.front()->key, all);
}

SourceConfig read_source(Section section, const std::string& folder) {
    SourceConfig source;
    source.name = section.key();
    source.line = section.line();
    read_world(section, folder, source);
    read_pace(section, source);
    read_expectation(section.section("expect"), source);
    section.finish();
    return source;
}

}  // namespace

std::string read_path(Section& section, std::string_view key, std::string_view fallback,
                      const std::string& folder) {
    std::string text = section.text(key, fallback);
    if (!section.has(key) || text.empty()) return text;
    if (text.front() == '~') {
        section.problem(
            key,
            fmt::format("is '{}', but ~ is expanded by shells only; write the full path", text));
        return text;
    }
    return (std::filesystem::path(folder) / text).lexically_normal().string();
}

std::vector<SourceConfig> read_sources(Section sources, const std::string& folder) {
    std::vector<SourceConfig> all;
    for (Section& section : sources.entries()) {
        if (!is_name(section.key())) {
            sources.problem(section.key(),
                            "cannot be a name; write 1 to 63 letters, digits, '-', "
                            "'_' or '.', a letter or digit first");
        }
        SourceConfig source = read_source(section, folder);
        for (const SourceConfig& other : all) {
            const PostgresSource* mine = source.postgres();
            const PostgresSource* theirs = other.postgres();
            if (mine == nullptr || theirs == nullptr || mine->slot != theirs->slot) continue;
            if (mine->slot.empty()) continue;
            sources.problem(source.name,
                            fmt::format("uses the slot '{}' of sources.{}; write another slot, "
                                        "because two readers of one slot take each other's changes",
                                        mine->slot, other.name));
        }
        all.push_back(std::move(source));
    }
    return all;
}

}  // namespace trueup::config
