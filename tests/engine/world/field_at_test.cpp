// Proves engine/model/field_path.h and engine/world/field_at.h: what an object says at a path, and
// that whatever is no plain value there is nobody's to guess.
#include "engine/world/field_at.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace trueup::world {
namespace {

using policy::FieldPath;

constexpr std::string_view kObject = R"({
  "spec": {"plan": "gold", "replicas": 3, "paused": false, "share": 0.5, "none": null, "empty": "",
           "hosts": ["a", "b"], "nested": {"deep": {"er": "x"}}},
  "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Live", "status": "False"},
                            {"type": "Twice", "status": "a"}, {"type": "Twice", "status": "b"}, 7],
             "ports": [{"number": 80, "name": "http"}]}})";

/// `text`, `(not there)`, `(unreadable)`, or `(no path)`.
std::string said(std::string_view at, std::string_view object = kObject) {
    const Result<FieldPath> path = FieldPath::parse("f", at);
    if (!path) return "(no path)";
    Json json;
    const FieldAt found = field_at(json.read(object), *path);
    if (found.kind == FieldAt::Kind::kText) return found.text;
    return found.kind == FieldAt::Kind::kNotThere ? "(not there)" : "(unreadable)";
}

TEST(FieldAt, IsAPlainValueAsJsonWritesIt) {
    EXPECT_EQ(said("spec.plan"), "gold");
    EXPECT_EQ(said("spec.replicas"), "3");
    EXPECT_EQ(said("spec.paused"), "false");
    EXPECT_EQ(said("spec.share"), "0.5");
    EXPECT_EQ(said("spec.empty"), "");
    EXPECT_EQ(said("spec.nested.deep.er"), "x");
}

TEST(FieldAt, OfAListIsTheOneElementThatIsMeant) {
    EXPECT_EQ(said("status.conditions[type=Ready].status"), "True");
    EXPECT_EQ(said("status.ports[number=80].name"), "http");
    EXPECT_EQ(said("status.conditions[type=Gone].status"), "(not there)");
    EXPECT_EQ(said("status.conditions[type=Twice].status"), "(unreadable)") << "which of both?";
    EXPECT_EQ(said("status.conditions[type=Ready]"), "(unreadable)");
}

TEST(FieldAt, WhatIsNotThereIsToldFromWhatNobodyCanSay) {
    EXPECT_EQ(said("spec.color"), "(not there)");
    EXPECT_EQ(said("label.app"), "(not there)");
    EXPECT_EQ(said("spec.none"), "(not there)") << "null is how the API leaves a field out";
    EXPECT_EQ(said("spec.none.more"), "(not there)");
    EXPECT_EQ(said("spec.nested"), "(unreadable)");
    EXPECT_EQ(said("spec.hosts"), "(unreadable)");
    EXPECT_EQ(said("spec.plan.color"), "(unreadable)") << "a text has no fields";
    EXPECT_EQ(said("spec.hosts.plan"), "(unreadable)");
    EXPECT_EQ(said("spec.plan[type=a].status"), "(unreadable)");
    EXPECT_EQ(said("spec.hosts[type=a].status"), "(not there)");
    EXPECT_EQ(said("spec.plan", "[]"), "(unreadable)");
    EXPECT_EQ(said("spec.plan", "no JSON"), "(unreadable)");
}

TEST(FieldAt, ATextThatIsTooLongIsNotCutToALikeOne) {
    const auto of = [](std::size_t length) {
        return R"({"a":")" + std::string(length, 'x') + R"("})";
    };
    EXPECT_EQ(said("a", of(FieldAt::kMostText)).size(), FieldAt::kMostText);
    EXPECT_EQ(said("a", of(FieldAt::kMostText + 1)), "(unreadable)");
}

// Symptom (had it been taken): a row was set to the half of a text that stands before the NUL,
// again and again.
TEST(FieldAt, ATextWithANulIsNoWord) {
    EXPECT_EQ(said("a", R"({"a": "gold\u0000x"})"), "(unreadable)");
}

// Symptom (had it been taken): `{text: label.version}` was a field `version` below one `label`,
// which no pod has: `{not: v2}` was true of all of them.
TEST(FieldPath, OfALabelOrAnAnnotationIsItsKey) {
    constexpr std::string_view kPod = R"({"metadata": {"labels": {"app.kubernetes.io/name": "x"},
      "annotations": {"note": "y"}}, "label": {"app": "no"}})";
    EXPECT_EQ(said("label.app.kubernetes.io/name", kPod), "x");
    EXPECT_EQ(said("annotation.note", kPod), "y");
    EXPECT_EQ(said("label.app", kPod), "(not there)");
    for (const char* wrong : {"label.", "label.a b", "annotation.", "label.a[b=c]"}) {
        EXPECT_EQ(said(wrong, kPod), "(no path)") << wrong;
    }
}

TEST(FieldPath, IsNamesWithDotsAndPicksAndNothingElse) {
    for (const char* wrong :
         {"", ".", "spec.", ".spec", "spec..plan", "spec plan", "spec[0]", "spec[type=]",
          "spec[=Ready]", "spec[type=Ready", "spec[type=Ready]status", "spec[a=b][c=d].e",
          "spec['plan']", "$.spec[?(@.a=='b')]", "metadata.annotations.a/b", "metadata.labels.app",
          "[type=Ready].a", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q"}) {
        EXPECT_EQ(said(wrong), "(no path)") << wrong;
    }
    EXPECT_EQ(said(std::string(300, 'a')), "(no path)");
    const Result<FieldPath> path =
        FieldPath::parse("ready", "status.conditions[type=Ready].status");
    ASSERT_TRUE(path.ok());
    EXPECT_EQ(path->name, "ready");
    EXPECT_EQ(path->steps[1], (FieldPath::Step{"conditions", "type", "Ready"}));
    EXPECT_EQ(FieldPath::parse("f", "spec[0]").error().what,
              "'spec[0]' is not a path in an object; write names with dots between them, as "
              "spec.plan, [NAME=VALUE] for one element of a list, as "
              "status.conditions[type=Ready].status, or label.KEY or annotation.KEY");
}

}  // namespace
}  // namespace trueup::world
