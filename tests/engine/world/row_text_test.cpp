// Proves engine/world/row_text.h, as far as it goes without a database: what a text means, and that
// SQL text is read back. postgres_real_test holds both readings against each other.
#include "engine/world/row_text.h"

#include <gtest/gtest.h>

namespace trueup::world {
namespace {

TEST(RowText, WhiteSpaceIsTheseSixBytes) {
    EXPECT_EQ(trimmed(" \t\n\r\f\va b\v\f\r\n\t "), "a b");
    EXPECT_EQ(trimmed(" \t\n\r\f\v"), "");
    EXPECT_EQ(trimmed(""), "");
    EXPECT_EQ(trimmed("v"), "v");
    EXPECT_EQ(trimmed("\xc2\xa0x"), "\xc2\xa0x") << "a space that does not break is a letter";
}

TEST(RowText, ATextNamesWhatComesAfterItsLastSlash) {
    for (const char* text :
         {"wrapper-a", " wrapper-a\n", "graph/wrapper-a", " x/graph/ wrapper-a "}) {
        EXPECT_EQ(named_in(text), "wrapper-a") << text;
    }
    EXPECT_EQ(named_in("wrapper-a/"), "");
    EXPECT_EQ(named_in(""), "");
}

TEST(RowText, SqlIsReadBack) {
    for (const char* column : {"pod_name", "Pod\"Name", "a'b", "\"\""}) {
        EXPECT_EQ(column_named_in(named_in_sql(column)), column);
        const std::string sql = unless_blank_sql(column) + " || rest";
        std::string_view rest = sql;
        EXPECT_EQ(take_unless_blank(rest), column);
        EXPECT_EQ(rest, " || rest");
    }
}

TEST(RowText, OtherSqlIsNot) {
    EXPECT_FALSE(column_named_in("pod_name"));
    EXPECT_FALSE(column_named_in(named_in_sql("a") + " "));
    EXPECT_FALSE(column_named_in(unless_blank_sql("a")));
    std::string two = unless_blank_sql("a");
    two.replace(two.rfind("\"a\""), 3, "\"b\"");
    std::string_view rest = two;
    EXPECT_FALSE(take_unless_blank(rest)) << "two columns";
    EXPECT_EQ(rest, two) << "nothing is taken off";
    const std::string whole = unless_blank_sql("a");
    for (std::size_t size = 0; size < whole.size(); ++size) {
        rest = std::string_view(whole).substr(0, size);
        EXPECT_FALSE(take_unless_blank(rest)) << rest;
    }
}

}  // namespace
}  // namespace trueup::world
