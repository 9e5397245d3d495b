// Proves connectors/postgres/correlation.h: the grammar, SQL's meaning of null, and the SQL text.
#include "connectors/postgres/correlation.h"

#include <gtest/gtest.h>

namespace trueup::connectors::postgres {
namespace {

constexpr Cell kNull{Cell::Kind::kNull};
constexpr Cell kUnchanged{Cell::Kind::kUnchanged};
Cell text(std::string_view value) { return {Cell::Kind::kText, value}; }

Correlated evaluate(std::string_view expression, const std::vector<Cell>& cells) {
    const Result<Correlation> parsed = Correlation::parse(expression);
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().what);
    return parsed.ok() ? parsed->evaluate(cells) : Correlated{};
}

std::string refusal(std::string_view expression) {
    const Result<Correlation> parsed = Correlation::parse(expression);
    return parsed.ok() ? "accepted" : parsed.error().what;
}

const Correlated kNoName{Correlated::Kind::kNull, ""};
const Correlated kUnknownName{Correlated::Kind::kUnknown, ""};
Correlated name(std::string value) { return {Correlated::Kind::kText, std::move(value)}; }

constexpr std::string_view kUsual = "coalesce(pod_name, 'wrapper-' || url_slug)";

TEST(Correlation, NamesTheRow_G25) {
    EXPECT_EQ(evaluate(kUsual, {text("wrapper-a"), text("b")}), name("wrapper-a"));
    EXPECT_EQ(evaluate(kUsual, {kNull, text("b")}), name("wrapper-b"));
    EXPECT_EQ(evaluate(kUsual, {kNull, kNull}), kNoName);
    EXPECT_EQ(evaluate("(a || '-') || b || ''", {text("x"), text("y")}), name("x-y"));
}

// Symptom: a live row with pod_name '' claimed nothing, the pod of its slug had no row, and was
// deleted.
TEST(Correlation, ABlankValueIsNull_G25) {
    for (const char* blank : {"", " ", "\t", " \t\n\r\f\v "}) {
        EXPECT_EQ(evaluate(kUsual, {text(blank), text("b")}), name("wrapper-b")) << blank;
        EXPECT_EQ(evaluate(kUsual, {text(blank), text(blank)}), kNoName) << blank;
        EXPECT_EQ(evaluate(kUsual, {kNull, text(blank)}), kNoName) << blank;
        EXPECT_EQ(evaluate("a || '-' || b", {text(blank), text("x")}), kNoName) << blank;
        EXPECT_EQ(evaluate("a || '-' || b", {text(blank), kUnchanged}), kNoName) << blank;
    }
    EXPECT_EQ(evaluate(kUsual, {text(" v "), text("b")}), name(" v ")) << "it is not made another";
    EXPECT_EQ(evaluate("a || ''", {text("x")}), name("x")) << "a literal is what it is";
}

TEST(Correlation, AValueThatWasNotSentIsUnknownNotNull_S16) {
    EXPECT_EQ(evaluate(kUsual, {kUnchanged, text("b")}), kUnknownName);
    EXPECT_EQ(evaluate(kUsual, {kNull, kUnchanged}), kUnknownName);
    EXPECT_EQ(evaluate(kUsual, {text("p"), kUnchanged}), name("p"));
    EXPECT_EQ(evaluate("a || b", {kUnchanged, kNull}), kNoName);
}

TEST(Correlation, ListsItsColumnsOnce) {
    EXPECT_EQ(Correlation::parse("b || a || \"B c\" || A || '\"x\"'")->columns(),
              (std::vector<std::string>{"B c", "a", "b"}));
}

TEST(Correlation, PrintsSql) {
    const std::string pod_name =
        R"(CASE WHEN btrim("pod_name"::text, E' \t\n\r\f\x0B') <> '' THEN "pod_name"::text END)";
    const std::string url_slug =
        R"(CASE WHEN btrim("url_slug"::text, E' \t\n\r\f\x0B') <> '' THEN "url_slug"::text END)";
    const std::string once = Correlation::parse(kUsual)->sql();
    EXPECT_EQ(once, "coalesce(" + pod_name + ", ('wrapper-' || " + url_slug + "))");
    EXPECT_EQ(Correlation::parse(once)->sql(), once);
    EXPECT_EQ(Correlation::parse(once)->columns(), Correlation::parse(kUsual)->columns());
    EXPECT_EQ(Correlation::parse(R"(COALESCE( 'it''s' , "we ""ird" ))")->sql().substr(0, 57),
              R"(coalesce('it''s', CASE WHEN btrim("we ""ird"::text, E' \t)");
}

// Symptom: an expression was accepted whose SQL text, which has more quotes, was refused as too
// long.
TEST(Correlation, TakesNothingWhoseSqlTextItWouldRefuse) {
    std::string longest = "coalesce(a";
    while (longest.size() < 4000) longest += ",a";
    EXPECT_NE(refusal(longest + ")").find("as SQL text"), std::string::npos);
    EXPECT_NE(refusal(longest + ")").find("longer than 4096"), std::string::npos);
    std::string deep = "a";
    for (int i = 0; i < 40; ++i) deep = "coalesce(b || " + deep + ")";
    EXPECT_NE(refusal(deep).find("as SQL text"), std::string::npos);
    EXPECT_NE(refusal(deep).find("nested too deeply"), std::string::npos);
}

TEST(Correlation, RefusesAnythingElseAndSaysWhere) {
    EXPECT_EQ(
        refusal(""),
        "correlation expression, position 1: expected a column, a 'literal' or coalesce(...)");
    EXPECT_NE(refusal("a ||").find("position 5"), std::string::npos);
    EXPECT_NE(refusal("a b").find("position 3: expected || or the end"), std::string::npos);
    EXPECT_NE(refusal("lower(a)").find("position 1: coalesce is the only"), std::string::npos);
    EXPECT_NE(refusal("a || 'x").find("position 6: this literal"), std::string::npos);
    EXPECT_NE(refusal("(a").find("expected )"), std::string::npos);
    EXPECT_NE(refusal("coalesce a").find("expected ("), std::string::npos);
    EXPECT_NE(refusal("coalesce(a").find("expected , or )"), std::string::npos);
    EXPECT_NE(refusal("a || null").find("SQL keyword"), std::string::npos);
    EXPECT_NE(refusal("'x'").find("names no column"), std::string::npos);
    EXPECT_NE(refusal("a || E'x'").find("prefix"), std::string::npos);
    EXPECT_NE(refusal("a; drop table x").find("position 2"), std::string::npos);
    EXPECT_NE(refusal("a -- b").find("position 3"), std::string::npos);
    EXPECT_NE(refusal("\"\"").find("1 to 63"), std::string::npos);
    EXPECT_NE(refusal("CASE WHEN a THEN b END").find("SQL keyword"), std::string::npos);
    std::string nul = Correlation::parse("a")->sql();
    while (nul.find("\"a\"") != std::string::npos) nul[nul.find("\"a\"") + 1] = '\0';
    EXPECT_NE(refusal(nul).find("position 1"), std::string::npos);
    EXPECT_NE(refusal(std::string(200, '(') + "a").find("nested"), std::string::npos);
    EXPECT_NE(refusal(std::string_view("a\0b", 3)).find("position 2"), std::string::npos);
}

}  // namespace
}  // namespace trueup::connectors::postgres
