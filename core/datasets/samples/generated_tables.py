"""Generated sample tables: deterministic, with a known truth."""

from __future__ import annotations

import numpy as np
import pandas as pd

# Weights of the truth behind the sample "groups"; every column that is not here has weight 0.
GROUPS_TRUTH = {
    **{"blood_pressure": 1.1, "blood_sugar": 1.0, "blood_iron": -0.9, "blood_fat": 0.8},
    **{"blood_salt": -0.7, "lifestyle_sport": -0.8, "lifestyle_sleep": -0.6},
    **{"lifestyle_smoking": 0.9, "lifestyle_stress": 0.5},
}
NOISE_GROUPS = {"noise_a": 10, "gene": 40, "weather": 12, "stars": 8}


def groups_table() -> pd.DataFrame:
    """400 rows, two classes, y ~ Bernoulli(σ(xᵀw)), w as in GROUPS_TRUTH, x standard normal."""
    rng = np.random.default_rng(20080704)
    rows = 400
    names = list(GROUPS_TRUTH)
    for group, count in NOISE_GROUPS.items():
        names += [f"{group.replace('_', '')}_{i + 1}" for i in range(count)]
    values = rng.standard_normal((rows, len(names))).round(4)
    weights = np.array([GROUPS_TRUTH.get(name, 0.0) for name in names])
    ill = rng.random(rows) < 1 / (1 + np.exp(-1.5 * values @ weights))
    table = pd.DataFrame(values, columns=names)
    table["ill"] = pd.Series(np.where(ill, "yes", "no"), dtype="str")
    return table


def prices_table() -> pd.DataFrame:
    """500 rows; price = 3 area + 25 rooms − 4 distance + floor effects + noise of size 20."""
    rng = np.random.default_rng(19691009)
    rows = 500
    area = rng.uniform(25, 160, rows).round(1)
    rooms = np.clip(np.round(area / 28 + rng.normal(0, 0.7, rows)), 1, 7).astype(int)
    place_km = rng.gamma(2.0, 3.0, rows).round(2)
    floor = rng.integers(0, 9, rows)
    noise = rng.standard_normal((rows, 30)).round(3)
    price = 3 * area + 25 * rooms - 4 * place_km + 1.5 * floor + rng.normal(0, 20, rows)
    table = pd.DataFrame(
        {"flat_area": area, "flat_rooms": rooms, "flat_floor": floor, "place_distance": place_km}
    )
    for i in range(30):
        table[f"noise_{i + 1}"] = noise[:, i]
    table["price"] = price.round(1)
    return table


def clinic_table() -> pd.DataFrame:
    """600 visits: categories (one rare), dates, yes/no, an identifier, 3 to 20 % missing."""
    rng = np.random.default_rng(18540110)
    rows = 600
    age = np.clip(rng.normal(52, 18, rows), 1, 98).round(0)
    ward = rng.choice(
        ["surgery", "eyes", "heart", "children", "burns"], rows, p=[0.34, 0.28, 0.26, 0.11, 0.01]
    )
    smoker = rng.choice(["yes", "no"], rows, p=[0.3, 0.7])
    days = rng.integers(0, 730, rows)
    visit = np.datetime64("2022-01-01") + days.astype("timedelta64[D]")
    pressure = (rng.normal(118, 14, rows) + 0.25 * age).round(0)
    waiting = rng.gamma(2.0, 14.0, rows).round(1)
    drive = (
        0.03 * (age - 52)
        + 0.9 * (ward == "heart")
        - 0.8 * (ward == "eyes")
        + 0.7 * (smoker == "yes")
        + 0.02 * (pressure - 131)
        - 0.02 * (waiting - 28)
        + 0.001 * (days - 365)
    )
    came_back = rng.random(rows) < 1 / (1 + np.exp(-1.3 * drive))
    table = pd.DataFrame(
        {
            "visit_id": [f"V{i:05d}" for i in rng.permutation(rows)],
            "visit_date": np.datetime_as_string(visit, unit="D"),
            "age": age,
            "ward": ward,
            "smoker": smoker,
            "blood_pressure": pressure,
            "waiting_minutes": waiting,
            "country": "NL",
            "came_back": np.where(came_back, "yes", "no"),
        }
    )
    holes = {"ward": 0.03, "smoker": 0.1, "blood_pressure": 0.2, "visit_date": 0.03}
    for name, share in holes.items():
        table[name] = table[name].mask(rng.random(rows) < share)
    texts = ("visit_id", "visit_date", "ward", "smoker", "country", "came_back")
    return table.astype(dict.fromkeys(texts, "str"))
