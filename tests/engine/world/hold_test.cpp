// Proves engine/world/hold.h: connectors and executors read a hold alike, whatever it is written
// in.
#include "engine/world/hold.h"

#include "connectors/kubernetes/decode.h"
#include "connectors/postgres/rows.h"
#include "engine/model/object.h"
#include "executors/pod.h"
#include "executors/read_set.h"

#include <gtest/gtest.h>

#include <array>

namespace trueup::world {
namespace {

constexpr std::string_view kHoldKey = "trueup.io/hold";

struct Spelling {
    std::string_view value;
    bool as_mark;    ///< a label's or an annotation's value holds
    bool in_column;  ///< a row's text does; so an integer, so a boolean, as PostgreSQL writes them
};

constexpr std::array<Spelling, 32> kSpellings{{
    {"true", true, true},
    {"t", true, true},
    {"yes", true, true},
    {"y", true, true},
    {"on", true, true},
    {"1", true, true},
    {"2", true, true},
    {"-1", true, true},
    {"TRUE", true, true},
    {" true ", true, true},
    {"until monday", true, true},
    {"nobody", true, true},
    {"fa", true, true},
    {"false!", true, true},
    {"falsefalse", true, true},
    {"none", true, true},
    {"null", true, true},
    {"00", true, true},
    {"0.0", true, true},
    {"", true, false},
    {" ", true, false},
    {"\t\n", true, false},
    {"false", false, false},
    {"f", false, false},
    {"no", false, false},
    {"n", false, false},
    {"off", false, false},
    {"0", false, false},
    {"False", false, false},
    {"OFF", false, false},
    {" no\t", false, false},
    {"F", false, false},
}};

std::string object_with(std::string_view where, std::string_view value) {
    std::string escaped;
    for (const char c : value) {
        escaped += c == '\t' ? "\\t" : c == '\n' ? "\\n" : std::string(1, c);
    }
    return R"({"kind":"Pod","metadata":{"name":"p","uid":"u","resourceVersion":"5",")" +
           std::string(where) + R"(":{")" + std::string(kHoldKey) + R"(":")" + escaped + R"("}}})";
}

bool connector_reads_mark(std::string_view where, std::string_view value) {
    connectors::Decoder decoder(connectors::Mapping{{}, std::string(kHoldKey), ""});
    const auto object = decoder.out_of_scope(object_with(where, value));
    EXPECT_TRUE(object.ok());
    return object.ok() && ObjectView(object->encoded).is("hold", "true");
}

bool executor_reads_mark(std::string_view where, std::string_view value) {
    const auto pod = executors::decode_pod(object_with(where, value), kHoldKey);
    EXPECT_TRUE(pod.ok());
    return pod.ok() && pod->held;
}

bool connector_reads_column(const std::optional<std::string_view>& value) {
    namespace postgres = connectors::postgres;
    const postgres::Settings settings{.table = {"public", "instances"},
                                      .slot = "s",
                                      .publication = "p",
                                      .columns = {"name"},
                                      .correlate = *postgres::Correlation::parse("name"),
                                      .source_name = "rows",
                                      .veto_column = "hold"};
    const auto map = postgres::RowMap::make(settings, {"id"}, {"id", "name", "hold"});
    EXPECT_TRUE(map.ok());
    using Cell = postgres::Cell;
    const Cell hold = value ? Cell{Cell::Kind::kText, *value} : Cell{Cell::Kind::kNull};
    const std::string object =
        map->object({{Cell::Kind::kText, "7"}, {Cell::Kind::kText, "a"}, hold});
    return ObjectView(object).is("hold", "true");
}

bool executor_reads_column(const std::optional<std::string_view>& value) {
    executors::RowSource source;
    source.veto_column = "hold";
    executors::Row row;
    row.columns["hold"] = value ? std::optional<std::string>(*value) : std::nullopt;
    return executors::row_held(source, row);
}

// Symptom: `trueup.io/hold: "false"`, or a hold column of integers, and the same command was
// ordered and refused for ever.
TEST(Hold, BothEdgesReadEverySpellingAlike_S24) {
    for (const Spelling& one : kSpellings) {
        EXPECT_EQ(mark_holds(one.value), one.as_mark) << '\'' << one.value << '\'';
        EXPECT_EQ(column_holds(one.value), one.in_column) << '\'' << one.value << '\'';
        for (const char* where : {"labels", "annotations"}) {
            EXPECT_EQ(connector_reads_mark(where, one.value), one.as_mark)
                << where << " '" << one.value << '\'';
            EXPECT_EQ(executor_reads_mark(where, one.value), one.as_mark)
                << where << " '" << one.value << '\'';
        }
        EXPECT_EQ(connector_reads_column(one.value), one.in_column) << '\'' << one.value << '\'';
        EXPECT_EQ(executor_reads_column(one.value), one.in_column) << '\'' << one.value << '\'';
    }
}

TEST(Hold, NullIsNone) {
    EXPECT_FALSE(column_holds(std::nullopt));
    EXPECT_FALSE(connector_reads_column(std::nullopt));
    EXPECT_FALSE(executor_reads_column(std::nullopt));
}

TEST(Hold, ALabelThatSaysNoDoesNotTakeBackAnAnnotation) {
    const std::string body =
        R"({"kind":"Pod","metadata":{"name":"p","uid":"u","resourceVersion":"5",)"
        R"("labels":{"trueup.io/hold":"no"},"annotations":{"trueup.io/hold":"1"}}})";
    EXPECT_TRUE(executors::decode_pod(body, kHoldKey)->held);
    EXPECT_FALSE(executors::decode_pod(body, "trueup.io/holder")->held);
    EXPECT_FALSE(executors::decode_pod(body)->held);
}

}  // namespace
}  // namespace trueup::world
