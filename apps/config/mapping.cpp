// By what a source is read, as one number: where it looks, what it selects, by which key its
// objects are filed, and which fields are told, and how. Whoever publishes and whoever judges make
// it from their own configurations, so it may only change with what it is made of.
#include "apps/config/config.h"
#include "engine/base/hash.h"
#include "engine/core/tagged.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace trueup::config {

namespace {

using core::Tagged;
using Words = std::vector<std::string>;

/// Their order says nothing.
Words sorted(Words words) {
    std::sort(words.begin(), words.end());
    return words;
}

Words treated(const Fields& fields) {
    Words texts;
    for (const auto& [name, field] : fields) {
        texts.push_back(fmt::format("{} {}", ports::name_of(field.treatment), name));
    }
    return texts;
}

Tagged of(const policy::FieldPath& path) {
    Tagged out;
    out.text(1, path.name);
    out.list(2, path.steps, [](const policy::FieldPath::Step& step) {
        Tagged one;
        one.text(1, step.name);
        one.text(2, step.by);
        one.text(3, step.value);
        return one;
    });
    return out;
}

Tagged of(const KubernetesSource& objects, const PolicyConfig& policy, const std::string& source) {
    Tagged out;
    out.text(1, objects.resource.api_path);
    out.text(2, objects.resource.plural);
    out.text(3, objects.resource.name_space);
    out.text(4, objects.selector);
    out.words(5, sorted(objects.labels));
    out.text(6, objects.veto_label);
    out.words(7, treated(objects.fields));
    Words paths;
    for (const policy::FieldPath& path : policy.paths_of(source)) paths.push_back(of(path).bytes());
    out.words(8, sorted(std::move(paths)));
    return out;
}

Tagged of(const PostgresSource& rows) {
    Tagged out;
    out.text(1, rows.table.schema);
    out.text(2, rows.table.name);
    out.text(3, rows.table.query);
    out.words(4, rows.primary_key);  // in the order of an object's id
    out.text(5, rows.publication);
    out.words(6, sorted(rows.columns));
    out.text(7, rows.veto_column);
    out.words(8, treated(rows.fields));
    return out;
}

}  // namespace

std::uint64_t mapping_of(const Config& config, const SourceConfig& source) {
    const PolicyConfig& policy = config.policies.front();
    const policy::Role* role = policy.role_of(source.name);
    Tagged out;
    out.text(1, policy.name);
    if (role != nullptr) {
        out.element(2, policy::key_text(role->key));
        out.number(3, role->reference ? 1 : 0);
    }
    if (const KubernetesSource* objects = source.kubernetes()) {
        out.text(4, key_label_of(policy, source));
        out.element(5, of(*objects, policy, source.name));
    } else {
        out.element(6, of(*source.postgres()));
    }
    return std::max<std::uint64_t>(hash64(out.bytes()), 1);
}

}  // namespace trueup::config
