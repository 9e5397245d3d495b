#include "stories/object.h"

#include "engine/base/suggest.h"
#include "engine/model/object.h"
#include "engine/model/object_builder.h"
#include "engine/model/subject_key.h"
#include "policies/shipped.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace trueup::stories {

namespace {

/// `instance i-a in=eu state=running`: every value that is not the object's identity is a field.
class ObjectReader {
  public:
    ObjectReader(const World& world, const policy::Role& role, Saying& said, std::uint64_t& version)
        : world_(world), role_(role), said_(said), version_(version) {}

    Seen read(bool gone) {
        const std::string name = said_.word("a name");
        Seen seen;
        seen.source = source();
        seen.id = id(name);
        seen.name = name;
        // What is looked up by name is no subject's; nor is what has no key.
        const std::string prefix = role_.reference ? reference_prefix(seen.source) : std::string();
        seen.name = name == "-" ? nameless_prefix(prefix, seen.source) + seen.id : prefix + name;
        seen.version = {said_.number("v", ++version_), 0};
        seen.listed = said_.flag("listed");
        begin_usual(name);
        for (const char* state : {"deleting", "hold"}) {
            if (said_.flag(state)) fields_[state] = "true";
        }
        if (said_.flag("out-of-scope")) fields_["in_scope"] = "false";
        said_.end_flags();
        take_fields();
        seen.object = gone ? std::string() : encoded();
        return seen;
    }

  private:
    /// The one that plays the role, or the one that `in=` names, itself or by its scope.
    std::string source() {
        const std::string in = said_.value("in", {});
        const Role number = policies::role_number(*world_.settings.text, role_.name);
        std::vector<std::string> known;
        for (const SourceSettings& each : world_.settings.sources) {
            if (each.role != number) continue;
            if (!in.empty() && (each.name == in || each.scope == in)) return each.name;
            known.push_back(each.name);
        }
        if (in.empty() && known.size() == 1) return known.front();
        if (known.empty()) {
            said_.fail("no source plays `" + role_.name + "`; begin the story with `with " +
                       role_.name + "`");
        }
        if (in.empty()) said_.fail("`" + said_.verb() + "` needs `in=`: " + enumerate(known, "or"));
        said_.fail("`in=" + in + "` is no source of `" + role_.name + "`; " +
                   did_you_mean(in, known));
    }

    /// `id=`, `uid=` or, of a row, `pk=7` for `public.instances/7`.
    std::string id(const std::string& name) {
        const std::string id = said_.value("id", said_.value("uid", {}));
        if (role_.kind == policy::Kind::kRow) {
            const std::string pk = said_.value("pk", {});
            const auto table = world_.tables.find(role_.name);
            const bool named = table != world_.tables.end();
            if (!pk.empty()) return (named ? table->second : "public." + role_.name) + '/' + pk;
            if (id.empty()) said_.fail("`" + said_.verb() + "` needs `pk=`, as in `pk=7`");
        } else if (role_.kind == policy::Kind::kPod && id.empty()) {
            said_.fail("`" + said_.verb() + "` needs `uid=`");
        }
        if (id.empty() && name == "-") said_.fail("`-` has no name; it needs `id=`");
        return id.empty() ? name : id;
    }

    /// What it says where the story does not: what its key is made of, and what its world has.
    void begin_usual(const std::string& name) {
        const std::vector<std::string> keys = policy::alone_in(role_.key);
        if (!keys.empty()) {
            fields_[keys.front()] = name == "-" ? "null" : name;
        }
        if (role_.kind == policy::Kind::kPod) {
            fields_.emplace("name", name);
            fields_.emplace("namespace", "default");
        }
        const auto usual = world_.usual.find(role_.name);
        if (usual == world_.usual.end()) return;
        for (const auto& [field, text] : usual->second) fields_[field] = text;
    }

    void take_fields() {
        for (const auto& [field, text] : said_.take_values()) {
            check(field);
            fields_[field] = text;
        }
    }

    /// A slip of a field's name would test nothing.
    void check(const std::string& field) const {
        std::vector<std::string> known = policy::fields_of(role_.key);
        for (const policy::Field& each : role_.fields) known.push_back(each.name);
        if (policy::in_kubernetes(role_.kind)) {
            for (const char* built_in :
                 {"created", "deleting", "hold", "in_scope", "name", "namespace"}) {
                known.emplace_back(built_in);
            }
        }
        if (role_.kind == policy::Kind::kRow) known.emplace_back("hold");
        if (std::find(known.begin(), known.end(), field) != known.end()) return;
        if (field.starts_with("other.")) return;
        said_.fail("`" + role_.name + "` has no field `" + field + "`; " +
                   did_you_mean(field, known) + "; what no rule reads is written `other." + field +
                   "=`");
    }

    bool is_moment(const std::string& field) const {
        const policy::Field* known = policy::find_field(role_, field);
        if (known != nullptr) return known->type == policy::Field::Type::kTimestamp;
        return field == "created" && policy::in_kubernetes(role_.kind);
    }

    std::string encoded() {
        ObjectBuilder object;
        for (auto& [field, text] : fields_) {
            const std::optional<Millis> moment = moment_of(text);
            if (text == "null") {
                object.add_null(field);
            } else if (text == "unsent") {
                object.add_unchanged(field);
            } else if (moment && is_moment(field)) {
                object.add(field, timestamp(*moment));
            } else {
                std::replace(text.begin(), text.end(), ',', ' ');
                object.add(field, text);
            }
        }
        return object.take();
    }

    const World& world_;
    const policy::Role& role_;
    Saying& said_;
    std::uint64_t& version_;
    std::map<std::string, std::string> fields_;
};

}  // namespace

Seen read_object(const World& world, const policy::Role& role, Saying& said, bool gone,
                 std::uint64_t& version) {
    return ObjectReader(world, role, said, version).read(gone);
}

}  // namespace trueup::stories
