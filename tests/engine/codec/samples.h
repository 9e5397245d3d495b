// One message of each kind with every field set, and random ones; for the tests of engine/codec.
#pragma once

#include "engine/codec/request_codec.h"
#include "engine/model/change.h"
#include "engine/model/command.h"
#include "engine/model/finding_edge.h"
#include "engine/model/journal.h"
#include "engine/model/settings.h"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace trueup::codec::samples {

/// The seed of this run: TRUEUP_SEED, or a new one. Tests print it with SCOPED_TRACE.
std::uint64_t seed();

std::string pod_object();
/// Views into static bytes.
ChangeView upsert();
ChangeView progress();
Command command();
Outcome outcome();
FindingEdge finding();
Request request();
/// Of two rules, as it was looked at in the second of three shards.
Request enabling();
Settings settings();
Genesis genesis();
/// A journal record with genesis, settings, an upsert, an outcome, a request and rubbish.
std::string journal_record();

/// Text of 0 to `longest` characters, some of them beyond ASCII. Never ill-formed UTF-8.
std::string random_text(std::mt19937_64& random, std::size_t longest);
/// Small, large and extreme numbers alike.
std::uint64_t random_number(std::mt19937_64& random);
/// `bytes` with one to four bytes changed, dropped or doubled.
std::string mutate(std::string bytes, std::mt19937_64& random);

}  // namespace trueup::codec::samples
