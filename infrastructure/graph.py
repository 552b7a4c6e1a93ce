"""Entities and relations of the semantic memory, as rows that are looked up by index, never by scanning.

    entities          one row per thing, whatever its spelling          BM25
    entity_aliases    every spelling that means it, folded              bm25, "best matching 25" → BM25
    entity_mentions   which text speaks of it: the provenance of everything known about it
    relations         subject, predicate, object, and the text that says so

Which words of a text are entities is the lesson of script 09; this file only keeps what it is told.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from infrastructure.storage import Storage
from infrastructure.text import fold

LONGEST_NAME = 40  # characters; a query is looked up in windows of at most so many
LONGEST_QUERY = 500  # characters; 20,000 windows take 50 ms, and nobody names a thing for the first time after that


@dataclass(frozen=True, slots=True)
class Entity:
    """Something texts speak of. `aliases` are other spellings, e.g. RAG for 检索增强生成."""

    name: str
    kind: str = "concept"
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Relation:
    """`subject predicate object`, said by the text `memory_id` ("" while it is not stored yet)."""

    subject: str
    predicate: str
    object: str
    memory_id: str = ""


_GRAPHML_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    '<key id="name" for="node" attr.name="name" attr.type="string"/>',
    '<key id="kind" for="node" attr.name="kind" attr.type="string"/>',
    '<key id="aliases" for="node" attr.name="aliases" attr.type="string"/>',
    '<key id="predicate" for="edge" attr.name="predicate" attr.type="string"/>',
    '<key id="said_by" for="all" attr.name="said_by" attr.type="string"/>',
    '<graph edgedefault="directed">',
)


class EntityGraph:
    """The graph of one home. Texts are named by row id inside, by key (memory_id) in what is returned."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._rows = storage.database.rows

    def link(self, text_id: int, entities: Iterable[Entity], relations: Iterable[Relation] = ()) -> None:
        """Record that a text speaks of these. Known spellings find their entity; new ones make one."""
        with self._storage.transaction() as db:
            for entity in entities:
                entity_id = self._entity_id(entity.name, entity.kind)
                for alias in entity.aliases:
                    self._add_alias(alias, entity_id)
                db.execute("INSERT OR IGNORE INTO entity_mentions (entity_id, id) VALUES (?, ?)", (entity_id, text_id))
            for relation in relations:
                subject_id, object_id = self._entity_id(relation.subject), self._entity_id(relation.object)
                if (
                    subject_id != object_id
                ):  # two names of one thing: that RAG is 检索增强生成 is an alias, not a relation
                    db.execute(
                        "INSERT OR IGNORE INTO relations (subject_id, predicate, object_id, id) VALUES (?, ?, ?, ?)",
                        (subject_id, relation.predicate, object_id, text_id),
                    )

    def unlink(self, text_id: int) -> None:
        """Forget what a text said; entities nobody speaks of any more go too."""
        with self._storage.transaction() as db:
            touched = self.entities_of(text_id)
            db.execute("DELETE FROM entity_mentions WHERE id = ?", (text_id,))
            db.execute("DELETE FROM relations WHERE id = ?", (text_id,))
            self.tidy(touched)

    def entities_of(self, text_id: int) -> set[int]:
        """Ids of the entities that a text mentions or relates."""
        rows = self._rows(
            "SELECT entity_id FROM entity_mentions WHERE id = :id UNION SELECT subject_id FROM relations WHERE id = :id "
            "UNION SELECT object_id FROM relations WHERE id = :id",
            {"id": text_id},
        )
        return {row[0] for row in rows}

    def tidy(self, entity_ids: Iterable[int]) -> None:
        """After a text is gone: of the entities it spoke of, remove those that no other text speaks of, and from the
        others the spellings that no other text uses. A name that stood only in a deleted text is deleted text."""
        with self._storage.transaction() as db:
            for entity_id in entity_ids:
                if not self._texts_of(entity_id, limit=1):
                    db.execute("DELETE FROM entities WHERE entity_id = ?", (entity_id,))
                    continue
                aliases = self._rows("SELECT folded, name FROM entity_aliases WHERE entity_id = ?", (entity_id,))
                unused = {alias["folded"] for alias in aliases} if len(aliases) > 1 else set()
                for limit in (100, -1):  # a name in daily use is met in its last hundred texts: seldom all are read
                    said = "\n".join(self._texts_of(entity_id, limit)) if unused else ""
                    unused = {folded for folded in unused if folded not in said}
                if 0 < len(unused) < len(aliases):
                    self._drop_spellings(entity_id, unused)

    def _texts_of(self, entity_id: int, limit: int) -> list[str]:
        """What the newest texts that speak of an entity say, folded; limit −1 means all."""
        some = "SELECT * FROM (SELECT id FROM {} WHERE {} = :e ORDER BY id DESC LIMIT :limit)"
        places = (("entity_mentions", "entity_id"), ("relations", "subject_id"), ("relations", "object_id"))
        rows = self._rows(
            "SELECT t.content, json_extract(m.metadata, '$.concept') AS concept FROM texts t LEFT JOIN memories m USING (id) "
            f"WHERE t.id IN ({' UNION '.join(some.format(*place) for place in places)})",
            {"e": entity_id, "limit": limit},
        )
        return [fold(f"{row['content']}\n{row['concept']}") for row in rows]

    def _drop_spellings(self, entity_id: int, gone: set[str]) -> None:
        """Remove some spellings of an entity, not all. If its name is among them, the first one left becomes its name."""
        with self._storage.transaction() as db:
            db.executemany("DELETE FROM entity_aliases WHERE folded = ?", ((folded,) for folded in gone))
            db.execute(
                "UPDATE entities SET (name, folded) = "
                "(SELECT name, folded FROM entity_aliases WHERE entity_id = :e ORDER BY folded) "
                "WHERE entity_id = :e AND folded NOT IN (SELECT folded FROM entity_aliases WHERE entity_id = :e)",
                {"e": entity_id},
            )

    def _entity_id(self, name: str, kind: str = "concept") -> int:
        found = self._lookup(name)
        if found is not None:
            return found
        with self._storage.transaction() as db:
            cursor = db.execute("INSERT INTO entities (name, folded, kind) VALUES (?, ?, ?)", (name, fold(name), kind))
            self._add_alias(name, cursor.lastrowid)
            return cursor.lastrowid

    def _lookup(self, name: str) -> int | None:
        return self._storage.database.value("SELECT entity_id FROM entity_aliases WHERE folded = ?", (fold(name),))

    def _add_alias(self, alias: str, entity_id: int) -> None:
        """A spelling that already means another entity makes the two one: RAG told first, 检索增强生成（RAG）told later."""
        other = self._lookup(alias)
        with self._storage.transaction() as db:
            if other is None:
                db.execute(
                    "INSERT INTO entity_aliases (folded, name, entity_id) VALUES (?, ?, ?)",
                    (fold(alias), alias, entity_id),
                )
            elif other != entity_id:
                self._merge(other, entity_id)

    def _merge(self, gone: int, kept: int) -> None:
        with self._storage.transaction() as db:
            db.execute("UPDATE entity_aliases SET entity_id = ? WHERE entity_id = ?", (kept, gone))
            for table, column in (
                ("entity_mentions", "entity_id"),
                ("relations", "subject_id"),
                ("relations", "object_id"),
            ):
                db.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {column} = ?", (kept, gone))
            db.execute("DELETE FROM entities WHERE entity_id = ?", (gone,))
            db.execute("DELETE FROM relations WHERE subject_id = ? AND object_id = ?", (kept, kept))

    def names_in(self, text: str) -> dict[int, str]:
        """Known entities that a text names, as {entity_id: name}. Whole words only: "storage" does not name "RAG"."""
        folded = fold(text[:LONGEST_QUERY])
        candidates = {part for part in _windows(folded) if part}
        rows = self._storage.select_in(
            "SELECT e.entity_id, e.name FROM entity_aliases a JOIN entities e USING (entity_id) WHERE a.folded IN",
            candidates,
        )
        return {row["entity_id"]: row["name"] for row in rows}

    def match(self, query: str) -> dict[int, int]:
        """For each text that speaks of entities named in the query: how many of them."""
        rows = self._storage.select_in(
            "SELECT id, entity_id FROM entity_mentions WHERE entity_id IN", self.names_in(query)
        )
        counts: dict[int, int] = {}
        for row in rows:
            counts[row["id"]] = counts.get(row["id"], 0) + 1
        return counts

    def texts_about(self, name: str, limit: int = -1) -> list[int]:
        """Row ids of the newest texts that mention an entity, under whatever spelling; limit −1 means all."""
        sql = "SELECT id FROM entity_mentions WHERE entity_id = ? ORDER BY id DESC LIMIT ?"
        return [row["id"] for row in self._rows(sql, (self._lookup(name), limit))]

    def search(self, prefix: str, limit: int = 20) -> list[Entity]:
        """Entities with a spelling that begins with `prefix`, most mentioned first. "" lists them all."""
        low = fold(prefix)
        rows = self._rows(
            "SELECT e.entity_id, e.name, e.kind, "
            "(SELECT count(*) FROM entity_mentions m WHERE m.entity_id = e.entity_id) AS uses "
            "FROM entities e WHERE e.entity_id IN (SELECT entity_id FROM entity_aliases WHERE folded >= ? AND folded < ?) "
            "ORDER BY uses DESC, e.name LIMIT ?",
            (low, low + "\U0010ffff", limit),
        )
        return [Entity(row["name"], row["kind"], self._aliases(row["entity_id"], row["name"])) for row in rows]

    def _aliases(self, entity_id: int, name: str) -> tuple[str, ...]:
        rows = self._rows("SELECT name FROM entity_aliases WHERE entity_id = ? ORDER BY name", (entity_id,))
        return tuple(row["name"] for row in rows if row["name"] != name)

    def related(self, name: str, hops: int = 1) -> list[tuple[Entity, int]]:
        """Entities reached from `name` in at most `hops` steps, nearest first. A step is a relation or a shared text."""
        start = self._lookup(name)
        if start is None:
            return []
        distance = {start: 0}
        frontier = [start]
        for hop in range(1, hops + 1):
            frontier = [i for i in self._one_step(frontier) if i not in distance]
            distance |= dict.fromkeys(frontier, hop)
        rows = self._storage.select_in(
            "SELECT entity_id, name, kind FROM entities WHERE entity_id IN", distance.keys() - {start}
        )
        reached = [(Entity(row["name"], row["kind"]), distance[row["entity_id"]]) for row in rows]
        return sorted(reached, key=lambda pair: (pair[1], pair[0].name))

    def _one_step(self, entity_ids: Sequence[int]) -> set[int]:
        reached = set()
        for sql in (
            "SELECT DISTINCT b.entity_id FROM entity_mentions a JOIN entity_mentions b USING (id) WHERE a.entity_id IN",
            "SELECT object_id FROM relations WHERE subject_id IN",
            "SELECT subject_id FROM relations WHERE object_id IN",
        ):
            reached |= {row[0] for row in self._storage.select_in(sql, entity_ids)}
        return reached

    def relations(self, name: str | None = None) -> list[Relation]:
        """All relations, or those with `name` on either side."""
        sql = (
            "SELECT s.name AS subject, r.predicate, o.name AS object, t.key "
            "FROM relations r JOIN entities s ON s.entity_id = r.subject_id "
            "JOIN entities o ON o.entity_id = r.object_id JOIN texts t ON t.id = r.id"
        )
        if name is None:
            rows = self._rows(sql + " ORDER BY s.name, r.predicate, o.name")
        else:
            entity_id = self._lookup(name)
            rows = self._rows(sql + " WHERE r.subject_id = ? OR r.object_id = ?", (entity_id, entity_id))
        return [Relation(row["subject"], row["predicate"], row["object"], row["key"]) for row in rows]

    def counts(self) -> dict[str, int]:
        return {table: self._rows(f"SELECT count(*) FROM {table}")[0][0] for table in ("entities", "relations")}

    # ---- export ----

    def _said_by(self) -> dict[str, list[str]]:
        """Where each entity comes from, as {node id: memory ids}."""
        said_by: dict[str, list[str]] = {}
        for row in self._rows("SELECT m.entity_id, t.key FROM entity_mentions m JOIN texts t USING (id) ORDER BY t.id"):
            said_by.setdefault(f"e{row['entity_id']}", []).append(row["key"])
        return said_by

    def _nodes_and_edges(self) -> tuple[list[tuple[str, Entity]], list[Relation]]:
        rows = self._rows("SELECT entity_id, name, kind FROM entities ORDER BY entity_id")
        nodes = [
            (f"e{row['entity_id']}", Entity(row["name"], row["kind"], self._aliases(row["entity_id"], row["name"])))
            for row in rows
        ]
        return nodes, self.relations()

    def to_graphml(self) -> str:
        """The graph as GraphML, readable by Gephi, yEd and networkx."""
        nodes, relations = self._nodes_and_edges()
        id_of, said_by = {entity.name: node_id for node_id, entity in nodes}, self._said_by()
        lines = [*_GRAPHML_HEAD]
        for node_id, entity in nodes:
            values = {"name": entity.name, "kind": entity.kind, "aliases": " | ".join(entity.aliases)}
            values["said_by"] = " ".join(said_by.get(node_id, ()))
            lines.append(f"<node id={quoteattr(node_id)}>{_data(values)}</node>")
        for relation in relations:
            ends = f"source={quoteattr(id_of[relation.subject])} target={quoteattr(id_of[relation.object])}"
            lines.append(
                f"<edge {ends}>{_data({'predicate': relation.predicate, 'said_by': relation.memory_id})}</edge>"
            )
        return "\n".join([*lines, "</graph>", "</graphml>"])

    def to_jsonld(self) -> str:
        """The graph as JSON-LD with schema.org names; entities and relations name the memories that speak of them."""
        nodes, relations = self._nodes_and_edges()
        id_of, said_by = {entity.name: f"_:{node_id}" for node_id, entity in nodes}, self._said_by()
        graph = [
            {
                "@id": id_of[e.name],
                "@type": "DefinedTerm",
                "name": e.name,
                "alternateName": list(e.aliases),
                "additionalType": e.kind,
                "isBasedOn": said_by.get(node_id, []),
            }
            for node_id, e in nodes
        ]
        graph += [
            {
                "@type": "Statement",
                "subject": {"@id": id_of[r.subject]},
                "predicate": r.predicate,
                "object": {"@id": id_of[r.object]},
                "isBasedOn": r.memory_id,
            }
            for r in relations
        ]
        return json.dumps({"@context": "https://schema.org", "@graph": graph}, ensure_ascii=False, indent=2)


def _data(values: dict[str, str]) -> str:
    return "".join(f'<data key="{key}">{escape(value)}</data>' for key, value in values.items())


def _windows(folded: str) -> Iterable[str]:
    """Every run of a text that could be an entity's name: word sequences, and substrings of CJK runs.

    >>> sorted(_windows("bm25 和"))
    ['bm25', 'bm25 和', '和']
    """
    pieces = _pieces(folded)
    for start in range(len(pieces)):
        name = ""
        for end in range(start, len(pieces)):
            name += pieces[end]
            if len(name) > LONGEST_NAME:
                break
            yield name.strip()


def _pieces(folded: str) -> list[str]:
    """A text cut where a name may begin or end: around words and around each CJK character. Separators stay, so that
    joining neighbouring pieces gives the text back."""
    from infrastructure.text import is_cjk

    pieces: list[str] = []
    word = ""
    for char in folded:
        if char.isalnum() and not is_cjk(char):
            word += char
            continue
        if word:
            pieces.append(word)
            word = ""
        pieces.append(char)
    return [*pieces, word] if word else pieces
