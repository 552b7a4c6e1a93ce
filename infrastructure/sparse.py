"""Words against words, for a handful of texts: TF-IDF and keywords, each in one feature space for query and texts."""

from collections.abc import Sequence

from infrastructure.shelves import inverse_frequency
from infrastructure.text import content_tokens, tokens


def tfidf(query: str, texts: Sequence[str]) -> list[float]:
    """Cosine in [0, 1] of the query and each text in one TF-IDF space: fitted on the texts, the query only transformed (D9)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer=lambda text: content_tokens(text) or tokens(text))
    matrix = vectorizer.fit_transform([*texts, "\0padding"])[:-1]
    return (matrix @ vectorizer.transform([query]).T).toarray().ravel().tolist()


def keywords(query: str, texts: Sequence[str]) -> list[float]:
    """Share of the query's words that each text has, weighted by rarity among the texts."""
    indexed = [set(tokens(text)) for text in texts]
    terms = content_tokens(query) or tokens(query)
    weights = {term: inverse_frequency(len(texts), sum(term in words for words in indexed)) for term in terms}
    return [coverage(weights, words) for words in indexed]


def coverage(weights: dict[str, float], words: set[str]) -> float:
    """Share in [0, 1] of the question's words that a text has, each weighted by its rarity. No words: 0.

    >>> coverage({"bm25": 3.0, "use": 1.0}, {"bm25", "index"})
    0.75
    """
    total = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in words) / total if total else 0.0
