// Proves engine/model/key.h: the grammar of keys, and that a printed key is the same key.
#include "engine/model/key.h"

#include <gtest/gtest.h>

namespace trueup::policy {
namespace {

std::string flaw(std::string_view text) {
    const Result<Key> key = parse_key(text);
    return key ? "" : key.error().what;
}

TEST(Key, ReadsWhatItPrints) {
    for (const char* text :
         {"name", "coalesce(pod_name, 'wrapper-' || url_slug)", "label.processor-id",
          "label.'app.kubernetes.io/name'", "tag.Machine", "annotation.'it''s'", "\"Odd Name\"",
          "namespace || '.' || name", "lower(after('/', owner))", "(a || b) || coalesce(c, d)"}) {
        const Result<Key> key = parse_key(text);
        ASSERT_TRUE(key) << text << ": " << key.error().what;
        const Result<Key> again = parse_key(key_text(*key));
        ASSERT_TRUE(again) << key_text(*key) << ": " << again.error().what;
        EXPECT_EQ(*again, *key) << text;
    }
}

TEST(Key, NamesTheFieldsThatItReadsOnce) {
    const std::vector<std::string> fields{"label.a", "name", "pod_name"};
    EXPECT_EQ(fields_of(parse_key("coalesce(pod_name, label.'a' || name, pod_name)").value()),
              fields);
}

TEST(Key, SaysWhereItIsWrong) {
    EXPECT_EQ(flaw("'a'"),
              "position 1: names no field, so all objects would belong to one subject");
    EXPECT_EQ(flaw("coalesce(a, b"), "position 14: expected )");
    EXPECT_EQ(flaw("upper(a)"),
              "position 1: coalesce, lower and after are the functions that there are");
    EXPECT_EQ(flaw("a b"), "position 3: expected || or the end");
    EXPECT_EQ(flaw("after('', a)"), "position 9: after('', …) finds nothing");
    EXPECT_EQ(flaw("'a"), "position 1: this quote does not end");
    EXPECT_EQ(flaw("label."), "position 7: expected the name of a label, an annotation or a tag");
    EXPECT_NE(flaw(std::string(100, '(')).find("is nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace trueup::policy
