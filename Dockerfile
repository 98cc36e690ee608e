# The gate for CI without Python: docker run --rm -v "$PWD:/work" IMAGE --ireval suites/
FROM python:3.13-slim AS build
COPY . /source
RUN pip wheel --no-cache-dir --wheel-dir /wheels "/source[live,sql,parquet,fast,remote]"

FROM python:3.13-slim
RUN apt-get update && apt-get install -y --no-install-recommends git && rm -rf /var/lib/apt/lists/*
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels "pytest-ireval[live,sql,parquet,fast,remote]"
RUN git config --system --add safe.directory '*'
WORKDIR /work
ENTRYPOINT ["python", "-m", "pytest", "-p", "no:cacheprovider"]
CMD ["--ireval", "suites/"]
