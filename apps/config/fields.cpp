// How fields are published (engine/ports/fields.h; design §4.15), as the configuration says it.
#include "apps/config/reading.h"
#include "apps/config/source_types.h"
#include "apps/config/words.h"

#include <fmt/format.h>

#include <algorithm>

namespace trueup::config {

using ports::Treatment;

Fields read_fields(Section& section, std::vector<std::string>& known, FieldFlaw flaw,
                   const std::vector<std::string>& others) {
    Fields fields;
    known = section.texts("acknowledge");
    Section entries = section.section("fields");
    for (const std::string& name : entries.keys()) {
        FieldConfig& field = fields[name];
        field.line = entries.line_of(name);
        field.treatment = static_cast<Treatment>(entries.choice(
            name, static_cast<std::size_t>(Treatment::kHash), {"map", "hash", "drop"}));
        if (const std::string wrong = flaw == nullptr ? "" : flaw(name); !wrong.empty()) {
            entries.problem(name, wrong);
            continue;
        }
        const bool open = field.treatment == Treatment::kMap && ports::looks_secret(name);
        if (!open || contains(known, name)) continue;
        entries.problem(
            name, fmt::format(
                      "is map, but looks like a secret, which would be published and kept in clear "
                      "text; write hash, or acknowledge: [{}] beside fields if this is intended",
                      name));
    }
    entries.finish();
    for (const std::string& name : known) {
        const auto field = fields.find(name);
        if (field != fields.end() && field->second.treatment == Treatment::kMap &&
            ports::looks_secret(name)) {
            continue;
        }
        if (contains(others, name)) continue;
        section.problem("acknowledge",
                        fmt::format("names '{}', which is not a field that looks like a secret and "
                                    "is published in clear text; leave it out",
                                    name));
    }
    return fields;
}

void check_listed(Section& section, std::string_view key, const std::vector<std::string>& names,
                  std::string_view prefix, const Fields& fields) {
    for (const std::string& name : names) {
        const std::string field = std::string(prefix) + name;
        const auto said = fields.find(field);
        if (said == fields.end() && ports::looks_secret(field)) {
            section.problem(
                key, fmt::format("has '{}', which looks like a secret, and would be published and "
                                 "kept; leave it out, or write fields: {{{}: hash}}",
                                 name, field));
        } else if (said != fields.end() && said->second.treatment == Treatment::kDrop) {
            section.problem(
                key, fmt::format("has '{}', which fields drops; remove one of the two", name));
        }
    }
}

void settle_columns(const SourceConfig& source, PostgresSource& rows,
                    const std::vector<std::string>& used, Problems& problems) {
    for (const auto& [name, field] : rows.fields) {
        const bool read_as_it_is = contains(used, name);
        if (field.treatment != Treatment::kMap && read_as_it_is) {
            problems.add(field.line, fmt::format("sources.{}.postgres.fields.{} is {}, but the "
                                                 "policy needs its text; write map",
                                                 source.name, name, name_of(field.treatment)));
        }
        if ((field.treatment != Treatment::kDrop || read_as_it_is) && !contains(rows.columns, name))
            rows.columns.push_back(name);
    }
}

std::string names_text(const std::vector<std::string>& names, const Fields& fields) {
    std::vector<std::string> texts;
    for (const std::string& name : names) {
        const auto field = fields.find(name);
        const bool hashed =
            field != fields.end() && field->second.treatment == ports::Treatment::kHash;
        texts.push_back(hashed ? name + " (hash)" : name);
    }
    return fmt::format("{}", fmt::join(texts, ", "));
}

void add_fields(nlohmann::ordered_json& json, const Fields& fields,
                const std::vector<std::string>& known) {
    for (const auto& [name, field] : fields) json["fields"][name] = name_of(field.treatment);
    if (!known.empty()) json["acknowledge"] = known;
}

}  // namespace trueup::config
